import { CliError } from '../lib/error.ts'
import { applicationName } from '../lib/paths.ts'
import { poll } from '../lib/poll.ts'
import { runInTerminal } from '../lib/run-tool.ts'
import {
  operateProgram,
  partitions,
  readinessCommand,
  type Service,
  serviceNamed,
  services,
  sidecarOf,
} from '../lib/services.ts'
import { type LogOptions, logLines, print, timed } from '../lib/terminal.ts'
import type { InsideOptions, ProgressOptions, Readiness, Runner, ServiceProbe } from '../runner.ts'
import { addressesOf, isInside, reachFromInside, reachFromOutside } from './addresses.ts'
import {
  type Cluster,
  helm,
  kubectl,
  kubectlOptions,
  ownSelector,
  programMissing,
  readRecord,
  releaseSelector,
  removeRecord,
  requireRecord,
} from './cluster.ts'
import { linesFromInside, runInside, runProgramInside } from './inside.ts'
import { type Deployment, isEnding, type Pod, partOf, readDeployments, readPods } from './pods.ts'
import { rebuildStores, unfinishedRebuilds, withPods } from './rebuild.ts'
import { change } from './release.ts'
import { apiKeysIn, operatorSecret, readSecrets } from './secrets.ts'
import { clusterStatus, requirePods } from './status.ts'
import { kubernetesUp } from './up.ts'
import { type KubernetesStore, namedStore, readValues, valuesFile } from './values.ts'

/** Runs the stack in the cluster of the kubeconfig. In a pod of the cluster, it only returns addresses. */
export const kubernetesRunner: Runner = {
  name: 'kubernetes',
  title: 'in Kubernetes',
  stores: ['mongodb', 'postgresql'],
  surroundings: 'containers',
  brokerCounts: [],
  missing: async () => (await programMissing())?.message,
  state: async () => {
    if (isInside()) return 'running'
    const record = readRecord()
    if (!record) return 'absent'
    if ((await readDeployments(record)).length > 0) return 'running'
    // The setup job of a failed installation.
    return (await readPods(record)).length > 0 ? 'stopped' : 'absent'
  },
  lastStore: () => readRecord()?.store ?? namedStore() ?? 'mongodb',
  lastBrokers: async () => undefined,
  // The store is not a part of the release.
  dataOf: async () => undefined,
  up: async ({ store, observed, rebuild, ...options }) => {
    if (observed) {
      throw new CliError('usage', 'make observe does not support STACK=kubernetes', {
        nextStep: `set monitoring.enabled: true in ${valuesFile}, then make up`,
      })
    }
    // The caller has checked that the store is one of `stores`.
    await kubernetesUp({ store: store as KubernetesStore, rebuild, ...options })
    return reachFromOutside(readValues())
  },
  down,
  clean,
  restart,
  scale,
  status: () => clusterStatus(requireRecord()),
  runningServices,
  logNames: async () => [...services.flatMap((service) => [service.name, sidecarOf(service)]), 'setup'],
  logs,
  reach: () => (isInside() ? reachFromInside(process.env) : reachFromOutside(readValues())),
  requireRunning,
  requireKafka: requireRunning,
  operate,
  streamVariables: async () => undefined,
  // Read only in commands that need the keys, because kubernetes.yaml may be invalid.
  get apiKeys() {
    return apiKeysIn(requireRecord(), readValues())
  },
  inside: isInside() ? undefined : { run, operate: operateInside, streamTroubles },
}

async function requireRunning(): Promise<void> {
  if (!isInside()) await requirePods(requireRecord())
}

async function down(onProgress: (line: string) => void): Promise<boolean> {
  const record = readRecord()
  if (!record) return false
  const releases = await helm(record, ['list', '--all', '--short', '--filter', `^${applicationName}$`])
  if (!releases.trim()) return false
  onProgress(`release ${applicationName}: uninstalling from ${record.context}, namespace ${record.namespace}`)
  await helm(record, ['uninstall', applicationName, '--cascade', 'foreground', '--wait', '--timeout', '5m'], {
    timeoutMs: 6 * 60_000,
  })
  // Helm keeps the objects of hooks.
  await kubectl(record, ['delete', 'jobs,networkpolicies', '--selector', releaseSelector, '--ignore-not-found'])
  onProgress('Secrets, topics and stores stay; ./orderflow clean removes the Secrets')
  return true
}

/** Workloads and volumes that are not ours. A namespace with any of them stays. */
const foreignKinds = 'deployments,statefulsets,daemonsets,jobs,cronjobs,pods,persistentvolumeclaims'

async function clean(): Promise<string[]> {
  const record = readRecord()
  if (!record) return []
  const { namespace } = record
  const removed = await kubectl(record, ['delete', 'secrets', '--selector', ownSelector, '--output', 'name'])
  const named = removed.split('\n').filter(Boolean)
  const own = await kubectl(record, ['get', 'namespaces', '--selector', ownSelector, '--output', 'name'])
  if (own.split('\n').includes(`namespace/${namespace}`)) {
    const others = (await kubectl(record, ['get', foreignKinds, '--output', 'name'])).split('\n').filter(Boolean)
    if (others.length > 0) print(`namespace ${namespace} stays, because it also has ${others.slice(0, 3).join(', ')}`)
    else {
      await kubectl(record, ['delete', 'namespace', namespace, '--wait=false'])
      named.push(`namespace/${namespace}`)
    }
  }
  removeRecord()
  return named
}

const rolloutTimeoutMs = 10 * 60_000

async function restart({ name }: Service, { onProgress, signal }: ProgressOptions): Promise<void> {
  const cluster = requireRecord()
  await kubectl(cluster, ['rollout', 'restart', `deployment/${name}`])
  await untilRolledOut(cluster, name, { onProgress, signal })
  onProgress(`${name}: restarted`)
}

/** @throws {CliError} `not-ready` after ten minutes */
async function untilRolledOut(cluster: Cluster, name: string, { onProgress, signal }: ProgressOptions): Promise<void> {
  let last = ''
  const isDone = async () => {
    const deployment = (await readDeployments(cluster)).find(({ metadata }) => metadata.name === name)
    if (!deployment || !isObserved(deployment)) return false
    const progress = progressOf(deployment)
    if (progress !== last) onProgress(`${name}: ${progress}`)
    last = progress
    const pods = (await readPods(cluster)).filter((pod) => partOf(pod) === name)
    return isRolledOut(deployment) && !pods.some(isEnding)
  }
  if (await poll(isDone, { timeoutMs: rolloutTimeoutMs, everyMs: 1_000, signal })) return
  throw new CliError('not-ready', `${name} is not ready after ${rolloutTimeoutMs / 60_000} minutes: ${last}`, {
    nextStep: 'make status, make logs',
  })
}

function progressOf({ spec, status }: Deployment): string {
  const { updatedReplicas = 0, readyReplicas = 0 } = status
  return `${updatedReplicas} of ${spec.replicas} replicas are new, ${readyReplicas} ready`
}

function isRolledOut({ spec, status }: Deployment): boolean {
  const { updatedReplicas = 0, readyReplicas = 0, replicas = 0 } = status
  return [updatedReplicas, readyReplicas, replicas].every((count) => count === spec.replicas)
}

/** Returns false while the status belongs to an earlier version of the Deployment. */
const isObserved = ({ metadata, status }: Deployment) => (status.observedGeneration ?? 0) >= metadata.generation

/** @throws {CliError} `usage` if KEDA manages the replicas */
async function scale(service: string, count: number, options: ProgressOptions): Promise<void> {
  const cluster = requireRecord()
  const { scaling } = readValues()
  // Asks for the object only if the cluster may have its kind.
  const managed = scaling.enabled
    ? await kubectl(cluster, ['get', 'scaledobjects.keda.sh', service, '--ignore-not-found', '--output', 'name'])
    : ''
  if (managed.trim()) {
    throw new CliError('usage', `KEDA manages the replicas of ${service}`, {
      nextStep: `change services.${service}.replicas (the minimum) or scaling.maxReplicas in ${valuesFile}, then make up`,
    })
  }
  await kubectl(cluster, ['scale', `deployment/${service}`, `--replicas=${count}`])
  await untilRolledOut(cluster, service, options)
  options.onProgress(`the next make up restores services.${service}.replicas of ${valuesFile}`)
  if (count > partitions.containers) {
    options.onProgress(
      `warning: a topic has ${partitions.containers} partitions, so only ${partitions.containers} replicas receive its events`,
    )
  }
}

async function servicePods(cluster: Cluster): Promise<Pod[]> {
  const isService = (pod: Pod) => services.some(({ name }) => name === partOf(pod))
  return (await readPods(cluster)).filter((pod) => pod.status.phase === 'Running' && isService(pod) && !isEnding(pod))
}

/** Calls each service inside its pod, because a Service leads only to pods that are ready. */
async function runningServices(): Promise<ServiceProbe[]> {
  const cluster = requireRecord()
  return (await servicePods(cluster)).map((pod) => {
    const service = serviceNamed(partOf(pod))
    const args = ['exec', pod.metadata.name, '--container', service.name, '--', ...readinessCommand(service)]
    return { name: pod.metadata.name, ask: async () => JSON.parse(await kubectl(cluster, args)) as Readiness }
  })
}

async function logs(names: readonly string[], { follow }: LogOptions): Promise<void> {
  const cluster = requireRecord()
  const [name = ''] = names
  const service = services.find((each) => each.name === name || sidecarOf(each) === name)
  const ofOne = service
    ? [
        `${releaseSelector},app.kubernetes.io/name=${service.name}`,
        '--container',
        service.name === name ? name : 'daprd',
      ]
    : [`${releaseSelector},app.kubernetes.io/name=${name}`, '--all-containers']
  const selector = names.length === 1 ? ofOne : [releaseSelector, '--all-containers']
  // By default kubectl follows only five containers.
  const options = ['--prefix', '--tail', String(logLines), '--max-log-requests', '200', '--ignore-errors']
  const args = [
    ...kubectlOptions(cluster),
    'logs',
    '--selector',
    ...selector,
    ...options,
    ...(follow ? ['--follow'] : []),
  ]
  runInTerminal('kubectl', args)
}

/** Runs an operator's command in a pod of the service, which has the settings and the sidecar. A stopped service gets a Job for its rebuild. */
async function operate({ name }: Service, args: string[]): Promise<number> {
  const cluster = requireRecord()
  const pod = (await servicePods(cluster)).find((each) => partOf(each) === name)
  if (!pod && args[0] === 'rebuild') return await rebuildStopped(cluster, name, args.slice(1))
  if (!pod) throw new CliError('not-running', `${name} does not run`, { nextStep: 'make status, make up' })
  const command = ['exec', pod.metadata.name, '--container', name, '--', 'node', operateProgram, ...args]
  return runInTerminal('kubectl', [...kubectlOptions(cluster), ...command])
}

/**
 * Rebuilds the store of a service that has no pods, and starts the service.
 * @throws {CliError} `still-running` while its last pods end, `usage` for a part of the log
 */
async function rebuildStopped(cluster: Cluster, name: string, range: string[]): Promise<number> {
  if ((await withPods(cluster)).includes(name)) {
    throw new CliError('still-running', `${name} has pods that start or end`, { nextStep: 'make status' })
  }
  if (range.length > 0) {
    throw new CliError('usage', `${name} is stopped, so its whole store is rebuilt`, {
      nextStep: 'leave out FROM, TO and TOPIC',
    })
  }
  const options = { onProgress: timed(), signal: new AbortController().signal }
  const apply = (values: object) => change(cluster, values, options)
  const all = [...new Set([name, ...(await unfinishedRebuilds(cluster))])]
  await rebuildStores(cluster, { services: all, apply, again: `make rebuild SERVICE=${name}`, ...options })
  return 0
}

const addresses = () => addressesOf(readValues())

function run(args: string[], options: InsideOptions): Promise<number> {
  return runInside(requireRecord(), { args, addresses: addresses(), ...options })
}

function operateInside({ name }: Service, args: string[], options: InsideOptions): Promise<number> {
  const program = ['node', operateProgram, ...args]
  return runProgramInside(requireRecord(), name, program, { addresses: addresses(), ...options })
}

/** Checks the settings of Kafka in a pod of the cluster. Returns an empty list without an operator of Kafka. */
async function streamTroubles(): Promise<string[]> {
  const cluster = requireRecord()
  const hasOperator = (await readSecrets(cluster)).some(({ metadata }) => metadata.name === operatorSecret)
  if (!hasOperator) return []
  const users = readValues().setup.enabled ? ['--users'] : []
  return await linesFromInside(cluster, ['stream-troubles', ...users], { addresses: addresses() })
}
