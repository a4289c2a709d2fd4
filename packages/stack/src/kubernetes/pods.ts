import { applicationName } from '../application/paths.ts'
import { services } from '../application/services.ts'
import { type Cluster, kubectlJson, releaseSelector } from './cluster.ts'

export interface ContainerStatus {
  name: string
  image: string
  ready: boolean
  restartCount: number
  state: {
    running?: object
    waiting?: { reason?: string; message?: string }
    terminated?: { reason?: string; exitCode: number }
  }
}

interface Condition {
  type: string
  status: string
  message?: string
}

export interface Pod {
  metadata: { name: string; labels: Record<string, string>; creationTimestamp: string; deletionTimestamp?: string }
  spec: { containers: { name: string; image: string }[]; initContainers?: { name: string; image: string }[] }
  status: {
    phase: string
    reason?: string
    containerStatuses?: ContainerStatus[]
    initContainerStatuses?: ContainerStatus[]
    conditions?: Condition[]
  }
}

export interface Deployment {
  metadata: { name: string; generation: number }
  spec: { replicas: number }
  status: {
    observedGeneration?: number
    updatedReplicas?: number
    readyReplicas?: number
    replicas?: number
    conditions?: Condition[]
  }
}

/** Returns the reason why the cluster refuses new pods of a Deployment, such as a rule or a quota of the namespace. */
export function refusalOf({ status }: Deployment): string | undefined {
  return status.conditions?.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True')?.message
}

export const nameLabel = 'app.kubernetes.io/name'

/** The label of the pods of commands (chart/templates/commands.yaml). */
const commandLabel = 'app.kubernetes.io/component'

/** Returns the pods of the release, without those of commands. */
export async function readPods(cluster: Cluster): Promise<Pod[]> {
  const selector = `${releaseSelector},${commandLabel}!=command`
  return (await kubectlJson<{ items: Pod[] }>(cluster, ['get', 'pods', '--selector', selector])).items
}

/** Returns the running pods of services. */
export async function servicePods(cluster: Cluster): Promise<Pod[]> {
  const isService = (pod: Pod) => services.some(({ name }) => name === partOf(pod))
  return (await readPods(cluster)).filter((pod) => pod.status.phase === 'Running' && isService(pod) && !isEnding(pod))
}

export async function readDeployments(cluster: Cluster): Promise<Deployment[]> {
  const args = ['get', 'deployments', '--selector', releaseSelector]
  return (await kubectlJson<{ items: Deployment[] }>(cluster, args)).items
}

export const setupPart = 'setup'

/** Returns the name of the pods that rebuild the store of a service (chart/templates/rebuild.yaml). */
export const jobPart = (service: string): string => `${service}-rebuild`

/** Returns the name of the service, or `setup`, `exporter` or a name of `jobPart`. */
export const partOf = ({ metadata }: Pod): string => metadata.labels[nameLabel] ?? metadata.name

export function statusesOf({ status }: Pod): ContainerStatus[] {
  return [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
}

export const isEnding = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined

export function isReady({ status }: Pod): boolean {
  return status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}

/** Returns the reason why a container waits, such as CrashLoopBackOff, or why the pod has no node. */
export function waitingReason(pod: Pod): string | undefined {
  const waiting = statusesOf(pod).flatMap(({ name, state }) => {
    const { reason, message } = state.waiting ?? {}
    const isUsual = !reason || reason === 'PodInitializing' || reason === 'ContainerCreating'
    return isUsual ? [] : [`${name}: ${reason}${message ? ` (${message})` : ''}`]
  })
  const unscheduled = pod.status.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False')
  return waiting[0] ?? unscheduled?.message
}

/** Returns a text such as `running`, `not ready` or `daprd: CrashLoopBackOff`. */
export function stateOf(pod: Pod): string {
  if (isEnding(pod)) return 'ending'
  const waiting = waitingReason(pod)
  if (waiting) return waiting.replace(/ \(.*\)$/s, '')
  // A job ends, so it is never ready for requests.
  if (pod.status.phase !== 'Running' || partOf(pod) === setupPart)
    return pod.status.reason ?? pod.status.phase.toLowerCase()
  return isReady(pod) ? 'running' : 'not ready'
}

/** Returns the tags or shortened digests of a pod's images, such as `latest, daprd 1.18.2`. */
export function versionsOf({ spec }: Pod): string {
  const images = [...spec.containers, ...(spec.initContainers ?? [])]
  const own = `${applicationName}-`
  return images
    .map(({ name, image }) => {
      const file = image.split('/').at(-1) ?? image
      const version = file.includes('@')
        ? file.replace(/^.*@(sha256:.{12}).*$/, '$1')
        : (file.split(':')[1] ?? 'latest')
      return file.startsWith(own) ? version : `${name} ${version}`
    })
    .join(', ')
}
