import type { Service } from '../application/services.ts'
import { CliError } from '../base/error.ts'
import { poll } from '../base/poll.ts'
import { type ProgressOptions, warnAboutReplicas } from '../runner.ts'
import { type Cluster, kubectl, requireRecord } from './cluster.ts'
import { type Deployment, isEnding, partOf, readDeployments, readPods } from './pods.ts'
import { readValues, valuesFile } from './values.ts'

const rolloutTimeoutMs = 10 * 60_000

export async function restart({ name }: Service, { onProgress, signal }: ProgressOptions): Promise<void> {
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
export async function scale(service: string, count: number, options: ProgressOptions): Promise<void> {
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
