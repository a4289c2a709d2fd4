import { readinessCommand, serviceNamed, storedServices } from '../application/services.ts'
import { CliError } from '../base/error.ts'
import { colouredTable, formatDuration } from '../base/terminal.ts'
import type { Readiness, ServiceProbe, StackStatus } from '../runner.ts'
import { type Cluster, kubectl, requireRecord } from './cluster.ts'
import {
  type Deployment,
  isEnding,
  isReady,
  jobPart,
  type Pod,
  partOf,
  readDeployments,
  readPods,
  refusalOf,
  servicePods,
  setupPart,
  stateOf,
  statusesOf,
  versionsOf,
} from './pods.ts'

export async function clusterStatus(cluster: Cluster): Promise<StackStatus> {
  const [deployments, pods] = await Promise.all([readDeployments(cluster), readPods(cluster)])
  if (deployments.length === 0) return { lines: [], unwell: undefined, nextStep: 'make up' }
  const sorted = pods.toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name))
  const colourOf = (pod: Pod) => (isEnding(pod) ? 'dim' : isWell(pod) ? 'green' : 'red')
  return {
    lines: [
      { text: `context ${cluster.context}, namespace ${cluster.namespace}`, colour: 'dim' },
      ...colouredTable(
        ['POD', 'READY', 'STATE', 'RESTARTS', 'UPTIME', 'VERSIONS'],
        sorted.map((pod) => ({ cells: cellsOf(pod), colour: colourOf(pod) })),
      ),
    ],
    unwell: unwell(deployments, pods),
    nextStep: `make logs SERVICE=..., kubectl --context ${cluster.context} --namespace ${cluster.namespace} describe pod NAME`,
  }
}

/** @throws {CliError} `not-running` with the names of parts that do not run */
export async function requirePods(cluster: Cluster): Promise<void> {
  const [deployments, pods] = await Promise.all([readDeployments(cluster), readPods(cluster)])
  const names = deployments.length === 0 ? ['the release'] : unwell(deployments, pods)
  if (names.length === 0) return
  throw new CliError('not-running', `not all parts run: ${names.join(', ')}`, { nextStep: 'make status, make up' })
}

function cellsOf(pod: Pod): string[] {
  const statuses = statusesOf(pod)
  const ready = statuses.filter((status) => status.ready).length
  const restarts = statuses.reduce((sum, { restartCount }) => sum + restartCount, 0)
  const age = formatDuration(Date.now() - Date.parse(pod.metadata.creationTimestamp))
  return [pod.metadata.name, `${ready}/${statuses.length}`, stateOf(pod), String(restarts), age, versionsOf(pod)]
}

const isWell = (pod: Pod) => pod.status.phase === 'Succeeded' || isReady(pod)

/** Returns the failed parts. A missing pod is reported by its Deployment, and an earlier attempt of a job not at all. */
function unwell(deployments: Deployment[], pods: Pod[]): string[] {
  const lacking = deployments.flatMap((deployment) => {
    const { metadata, spec, status } = deployment
    const { readyReplicas = 0 } = status
    const refusal = refusalOf(deployment)
    if (refusal) return [`${metadata.name} (${refusal})`]
    return readyReplicas < spec.replicas ? [`${metadata.name} (${readyReplicas} of ${spec.replicas} ready)`] : []
  })
  const jobs = [setupPart, ...storedServices.map(({ name }) => jobPart(name))]
  const failed = jobs.filter((job) => {
    const own = pods.filter((pod) => partOf(pod) === job)
    return own.length > 0 && own.every((pod) => pod.status.phase === 'Failed')
  })
  return [...lacking, ...failed.map((job) => `${job} (failed)`)]
}

/** Calls each service inside its pod, because a Service leads only to pods that are ready. */
export async function runningServices(): Promise<ServiceProbe[]> {
  const cluster = requireRecord()
  return (await servicePods(cluster)).map((pod) => {
    const service = serviceNamed(partOf(pod))
    const args = ['exec', pod.metadata.name, '--container', service.name, '--', ...readinessCommand(service)]
    return { name: pod.metadata.name, ask: async () => JSON.parse(await kubectl(cluster, args)) as Readiness }
  })
}
