import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline'
import { CliError } from '../lib/error.ts'
import { applicationName, imagePath, programFile } from '../lib/paths.ts'
import { poll } from '../lib/poll.ts'
import type { InsideOptions } from '../runner.ts'
import { type Cluster, kubectl, kubectlJson, kubectlOptions, sendObjects } from './cluster.ts'
import { isReady, type Pod, waitingReason } from './pods.ts'

/**
 * Marks a pod in which a command of this program runs. Its value has the addresses of services for messages, as JSON: people reach the
 * services at other addresses than the pod.
 */
export const addressesVariable = 'ORDERFLOW_ADDRESSES'

interface PodOptions {
  /** The addresses of services, for messages. */
  addresses: Record<string, string>
  signal?: AbortSignal
}

/** The container with this program (chart/templates/commands.yaml). */
const ownContainer = 'setup'
const ownProgram = () => ['node', imagePath(programFile('#cli'))]

/** Runs a command of this program in a pod of the cluster, where Kafka is reachable. Returns its exit code. */
export function runInside(
  cluster: Cluster,
  { args, ...options }: PodOptions & InsideOptions & { args: string[] },
): Promise<number> {
  return runProgramInside(cluster, ownContainer, [...ownProgram(), ...args], options)
}

/** Runs a program in a container with the operator's user of Kafka. Returns its exit code. */
export async function runProgramInside(
  cluster: Cluster,
  container: string,
  program: string[],
  options: PodOptions & InsideOptions,
): Promise<number> {
  return await inPod(cluster, container, options, (pod) => executeIn(cluster, pod, container, program, options))
}

/** Returns the lines that a command of this program prints inside the cluster. */
export async function linesFromInside(cluster: Cluster, args: string[], options: PodOptions): Promise<string[]> {
  const output = await inPod(cluster, ownContainer, options, (pod) => {
    const command = ['exec', pod, '--container', ownContainer, '--', ...ownProgram(), ...args]
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
  return await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 130))
  })
}
