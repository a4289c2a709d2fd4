import { applicationName } from '../application/paths.ts'
import { type Service, services, sidecarOf } from '../application/services.ts'
import { CliError } from '../base/error.ts'
import { poll, runInTerminal } from '../base/run-tool.ts'
import { type LogOptions, logLines, print } from '../base/terminal.ts'
import { type ProgressOptions, type Runner, warnAboutReplicas } from '../runner.ts'
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
import { inside, isInside, operate, reachFromInside, reachFromOutside } from './inside.ts'
import { isEnding, partOf, readDeployments, readPods } from './pods.ts'
import { apiKeysIn } from './secrets.ts'
import { clusterStatus, requirePods, runningServices } from './status.ts'
import { kubernetesUp } from './up.ts'
import { type KubernetesStore, namedStore, readValues, valuesFile } from './values.ts'

/** Runs the stack in the cluster of the kubeconfig. In a pod of the cluster, it only returns addresses. */
export const inKubernetes: Runner = {
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
  // Read only in commands that need the keys, because kubernetes.yaml may be invalid.
  get apiKeys() {
    return apiKeysIn(requireRecord(), readValues())
  },
  inside: isInside() ? undefined : inside,
}

async function requireRunning(): Promise<void> {
  if (!isInside()) await requirePods(requireRecord())
}

/** Uninstalls the application. Returns false if it is not installed. */
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

/** Removes the Secrets, and the namespace if `make up` has created it and nothing else uses it. Returns their names. */
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

async function logs(names: readonly string[], { follow }: LogOptions): Promise<void> {
  const cluster = requireRecord()
  const [name = ''] = names
  const service = services.find((each) => each.name === name || sidecarOf(each) === name)
  const named = `${releaseSelector},app.kubernetes.io/name=`
  const ofOne = service
    ? [named + service.name, '--container', service.name === name ? name : 'daprd']
    : [named + name, '--all-containers']
  const selector = names.length === 1 ? ofOne : [releaseSelector, '--all-containers']
  // By default kubectl follows only five containers.
  const limits = ['--tail', String(logLines), '--max-log-requests', '200', ...(follow ? ['--follow'] : [])]
  const args = [...kubectlOptions(cluster), 'logs', '--selector', ...selector, '--prefix', '--ignore-errors', ...limits]
  runInTerminal('kubectl', args)
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
    if (!deployment) return false
    const { metadata, spec, status } = deployment
    const { observedGeneration = 0, updatedReplicas = 0, readyReplicas = 0, replicas = 0 } = status
    // The status belongs to an earlier version of the Deployment.
    if (observedGeneration < metadata.generation) return false
    const progress = `${updatedReplicas} of ${spec.replicas} replicas are new, ${readyReplicas} ready`
    if (progress !== last) onProgress(`${name}: ${progress}`)
    last = progress
    const pods = (await readPods(cluster)).filter((pod) => partOf(pod) === name)
    const isRolledOut = [updatedReplicas, readyReplicas, replicas].every((count) => count === spec.replicas)
    return isRolledOut && !pods.some(isEnding)
  }
  if (await poll(isDone, { timeoutMs: rolloutTimeoutMs, everyMs: 1_000, signal })) return
  throw new CliError('not-ready', `${name} is not ready after ${rolloutTimeoutMs / 60_000} minutes: ${last}`, {
    nextStep: 'make status, make logs',
  })
}

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
  warnAboutReplicas(count, options.onProgress)
}
