import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { applicationName, imagePath, programFile } from '../application/paths.ts'
import { defaultPorts, entryOf, ofServices, operateProgram, type Service } from '../application/services.ts'
import { CliError } from '../base/error.ts'
import { poll, runInTerminal } from '../base/run-tool.ts'
import { kafkaPasswords } from '../containers/project.ts'
import { kafkaConnection } from '../kafka/connection.ts'
import { publishUser } from '../kafka/rights.ts'
import type { Inside, InsideOptions, Reached } from '../runner.ts'
import { type Cluster, kubectl, kubectlJson, kubectlOptions, requireRecord, sendObjects } from './cluster.ts'
import { isReady, type Pod, partOf, servicePods, waitingReason } from './pods.ts'
import { rebuildStopped } from './rebuild.ts'
import { operatorSecret, readSecrets } from './secrets.ts'
import { readValues, type Values } from './values.ts'

/**
 * Marks a pod in which a command of this program runs. Its value has the addresses of services for messages, as JSON: people reach the
 * services at other addresses than the pod.
 */
const addressesVariable = 'ORDERFLOW_ADDRESSES'

/** Returns the addresses at which people reach the services: the hosts of the route, otherwise those of `kubectl port-forward`. */
export function addressesOf({ route }: Pick<Values, 'route'>): Record<string, string> {
  const hosts = route.enabled ? route.hosts : {}
  return ofServices(({ name, http }) => (hosts[name] ? `https://${hosts[name]}` : `http://localhost:${http}`))
}

const observers = { jaeger: defaultPorts.jaeger, prometheus: defaultPorts.prometheus, grafana: undefined }

/** Returns addresses for messages on this machine. Kafka is reachable only inside the cluster. */
export function reachFromOutside(values: Pick<Values, 'route'>): Reached {
  const nowhere = { bootstrapBrokers: [] }
  const addresses = addressesOf(values)
  const services = ofServices(({ name }) => ({ url: entryOf(addresses, name), httpsUrl: '' }))
  return { services, kafka: nowhere, publisher: nowhere, observers }
}

/** Returns the addresses in a pod of the cluster, from the variables of the pod. */
export function reachFromInside(env: NodeJS.ProcessEnv): Reached {
  const shown = JSON.parse(env[addressesVariable] ?? '{}') as Record<string, string>
  const kafka = kafkaConnection(env)
  const password = env[entryOf(kafkaPasswords, publishUser)]
  return {
    services: ofServices(({ name, http }) => ({ url: `http://${name}:${http}`, httpsUrl: '', shown: shown[name] })),
    kafka,
    publisher: kafka.sasl && password ? { ...kafka, sasl: { ...kafka.sasl, username: publishUser, password } } : kafka,
    observers,
  }
}

/** Returns true in a pod in which a command runs. */
export const isInside = (env: NodeJS.ProcessEnv = process.env): boolean => env[addressesVariable] !== undefined

interface PodOptions {
  /** The addresses of services, for messages. */
  addresses: Record<string, string>
  signal?: AbortSignal
}

/** The container with the programs of the packages (chart/templates/commands.yaml). */
const ownContainer = 'setup'

const commandIn = (program: string, args: string[]) => ['node', imagePath(program), ...args]
const addresses = () => addressesOf(readValues())

/** Runs commands in a pod of the cluster, where Kafka is reachable, with the operator's user of Kafka. */
export const inside: Inside = {
  run: (program, args, options) => runHere(ownContainer, commandIn(program, args), options),
  operate: ({ name }, args, options) => runHere(name, ['node', operateProgram, ...args], options),
  streamTroubles: async () => {
    const cluster = requireRecord()
    const hasOperator = (await readSecrets(cluster)).some(({ metadata }) => metadata.name === operatorSecret)
    if (!hasOperator) return []
    const users = readValues().setup.enabled ? ['--users'] : []
    return await linesFromInside(cluster, ['stream-troubles', ...users], { addresses: addresses() })
  },
}

const runHere = (container: string, program: string[], options: InsideOptions) =>
  runInPod(requireRecord(), container, program, { ...options, addresses: addresses() })

/** Runs a program in a container with the operator's user of Kafka. Returns its exit code. */
export async function runInPod(
  cluster: Cluster,
  container: string,
  program: string[],
  options: PodOptions & InsideOptions,
): Promise<number> {
  return await inPod(cluster, container, options, (pod) => executeIn(cluster, pod, container, program, options))
}

/** Runs an operator's command in a pod of the service, which has the settings and the sidecar. A stopped service gets a Job for its rebuild. */
export async function operate({ name }: Service, args: string[]): Promise<number> {
  const cluster = requireRecord()
  const pod = (await servicePods(cluster)).find((each) => partOf(each) === name)
  if (!pod && args[0] === 'rebuild') return await rebuildStopped(cluster, name, args.slice(1))
  if (!pod) throw new CliError('not-running', `${name} does not run`, { nextStep: 'make status, make up' })
  const command = ['exec', pod.metadata.name, '--container', name, '--', 'node', operateProgram, ...args]
  return runInTerminal('kubectl', [...kubectlOptions(cluster), ...command])
}

/** Returns the lines that `in-pod.ts` prints inside the cluster. */
export async function linesFromInside(cluster: Cluster, args: string[], options: PodOptions): Promise<string[]> {
  const output = await inPod(cluster, ownContainer, options, (pod) => {
    const command = ['exec', pod, '--container', ownContainer, '--', ...commandIn(programFile('#in-pod'), args)]
    return kubectl(cluster, command, { timeoutMs: lineTimeoutMs })
  })
  return output.split('\n').filter(Boolean)
}

/** Longer than the minute for which a command waits for Kafka (lib/poll.ts), for each service. */
const lineTimeoutMs = 5 * 60_000

interface CronJob {
  spec: { jobTemplate: { spec: JobSpec } }
}

interface JobSpec {
  template: { spec: { containers: { name: string; env?: object[] }[] } }
}

/** Starts a pod, which waits while `work` runs programs in it. The pod is removed afterwards. */
async function inPod<Result>(
  cluster: Cluster,
  container: string,
  { addresses, signal }: PodOptions,
  work: (pod: string) => Promise<Result>,
): Promise<Result> {
  const { spec } = (await kubectlJson<CronJob>(cluster, ['get', 'cronjob', `${applicationName}-commands`])).spec
    .jobTemplate
  const name = `${applicationName}-command-${randomBytes(4).toString('hex')}`
  const variables = { [addressesVariable]: JSON.stringify(addresses), ...(hasColours() && { FORCE_COLOR: '1' }) }
  const env = Object.entries(variables).map(([variable, value]) => ({ name: variable, value }))
  const pod = spec.template.spec
  const containers = pod.containers
    .filter((each) => each.name === container)
    .map((each) => ({ ...each, env: [...(each.env ?? []), ...env] }))
  const template = { ...spec.template, spec: { ...pod, containers } }
  const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name }, spec: { ...spec, template } }
  await sendObjects(cluster, 'create', [job])
  try {
    return await work(await startedPod(cluster, name, signal))
  } finally {
    await kubectl(cluster, ['delete', 'job', name, '--wait=false', '--ignore-not-found']).catch(() => {})
  }
}

const hasColours = () => process.stdout.isTTY && !process.env.NO_COLOR

const startTimeoutMs = 90_000
/** A container may wait for its image or its Secrets for this time. */
const waitingTimeoutMs = 20_000

/** @throws {CliError} `not-ready` with the reason why the pod does not start */
async function startedPod(cluster: Cluster, job: string, signal: AbortSignal | undefined): Promise<string> {
  const startedAt = Date.now()
  let reason: string | undefined
  const started = async () => {
    const args = ['get', 'pods', '--selector', `batch.kubernetes.io/job-name=${job}`]
    const [pod] = (await kubectlJson<{ items: Pod[] }>(cluster, args)).items
    reason = pod && waitingReason(pod)
    if (reason && Date.now() - startedAt > waitingTimeoutMs) throw notStarted(reason)
    return pod && isReady(pod) ? pod.metadata.name : undefined
  }
  const name = await poll(started, { timeoutMs: startTimeoutMs, everyMs: 300, signal })
  if (name) return name
  throw notStarted(reason ?? `it is not ready after ${startTimeoutMs / 1000} s`)
}

function notStarted(reason: string): CliError {
  return new CliError('not-ready', `the pod of this command does not start: ${reason}`, {
    nextStep:
      'commands need the Secret operator-secrets and the image of setup; make up creates both (docs/kubernetes.md)',
  })
}

/** Reads variables from the first lines of the standard input, until an empty line. Then runs a program in place of the shell. */
const withVariables = 'while IFS= read -r line && [ -n "$line" ]; do export "$line"; done; exec "$@"'

async function executeIn(
  cluster: Cluster,
  pod: string,
  container: string,
  program: string[],
  { input, secrets, signal }: InsideOptions,
): Promise<number> {
  const variables = Object.entries(secrets).map(([name, value]) => `${name}=${value}\n`)
  const prefix = variables.length > 0 ? Buffer.from(`${variables.join('')}\n`) : undefined
  const own = prefix || input ? Buffer.concat([prefix ?? Buffer.alloc(0), input ?? Buffer.alloc(0)]) : undefined
  const isTerminal = !own && process.stdin.isTTY && process.stdout.isTTY
  const flags = isTerminal ? ['--stdin', '--tty'] : own || !process.stdin.isTTY ? ['--stdin'] : []
  const shown = prefix ? ['sh', '-c', withVariables, 'sh', ...program] : program
  const args = [...kubectlOptions(cluster), 'exec', ...flags, pod, '--container', container, '--', ...shown]
  const child = spawn('kubectl', args, { stdio: [own ? 'pipe' : 'inherit', 'inherit', 'pipe'] })
  child.stdin?.on('error', () => {})
  child.stdin?.end(own)
  signal.addEventListener('abort', () => child.kill('SIGINT'))
  // kubectl adds this line to the program's own errors.
  const isNoise = (line: string) => /^command terminated with exit code \d+$/.test(line)
  if (child.stderr) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (!isNoise(line)) process.stderr.write(`${line}\n`)
    })
  }
  const [code] = (await once(child, 'close')) as [number | null]
  return code ?? 130
}
