import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { applicationName, repository } from '../application/paths.ts'
import { CliError } from '../base/error.ts'
import { pause } from '../base/run-tool.ts'
import type { ProgressOptions } from '../runner.ts'
import { type Cluster, helm, kubectl } from './cluster.ts'
import { isEnding, partOf, readDeployments, readPods, refusalOf, setupPart, stateOf, waitingReason } from './pods.ts'
import { chartFolder, valuesFile } from './values.ts'

/** The time after which Helm gives up. The first start includes pulling all images. */
const startTimeoutMinutes = 10

/** Installs or upgrades the release with the application's own values. Waits until all pods are ready, and reports each change of a pod's state. */
export async function install(cluster: Cluster, values: object, options: ProgressOptions): Promise<void> {
  const own = existsSync(join(repository, valuesFile)) ? ['--values', valuesFile] : []
  await upgrade(cluster, ['--install', ...own], values, options)
}

/** Changes some values of the installed release, and waits in the same way. */
export async function change(cluster: Cluster, values: object, options: ProgressOptions): Promise<void> {
  await upgrade(cluster, ['--reset-then-reuse-values'], values, options)
}

async function upgrade(cluster: Cluster, flags: string[], values: object, options: ProgressOptions): Promise<void> {
  const { onProgress, signal } = options
  const wait = ['--wait', '--timeout', `${startTimeoutMinutes}m`]
  // The values of this command come last, because Helm lets them replace earlier ones.
  const args = ['upgrade', applicationName, chartFolder, ...flags, '--values', '-', ...wait]
  const stopped = new AbortController()
  const either = AbortSignal.any([signal, stopped.signal])
  const timeoutMs = (startTimeoutMinutes + 1) * 60_000
  const installing = helm(cluster, args, { input: JSON.stringify(values), timeoutMs, signal: either })
  const watched = watchPods(cluster, onProgress, () => stopped.abort())
  const restarting = restartCrashed(cluster, onProgress, stopped.signal)
  try {
    await installing
  } catch (error) {
    throw await installFailure(cluster, error as CliError, watched.reason())
  } finally {
    stopped.abort()
    await watched.stop()
    await restarting
  }
}

/**
 * Replaces pods that crash when the setup job ends. The job may have corrected the cause, such as missing users of Kafka. Otherwise, Kubernetes would
 * restart their containers up to five minutes later.
 */
export async function restartCrashed(
  cluster: Cluster,
  onProgress: (line: string) => void,
  ended: AbortSignal,
): Promise<void> {
  const setups = async () =>
    (await readPods(cluster)).filter((pod) => partOf(pod) === setupPart && pod.status.phase === 'Succeeded')
  try {
    const earlier = new Set((await setups()).map(({ metadata }) => metadata.name))
    const isDone = async () => (await setups().catch(() => [])).some(({ metadata }) => !earlier.has(metadata.name))
    while (!(await isDone())) await pause(1_000, ended)
    for (const pod of await readPods(cluster)) {
      if (isEnding(pod) || !/CrashLoopBackOff/.test(waitingReason(pod) ?? '')) continue
      onProgress(`${pod.metadata.name}: replacing, because it crashed before`)
      await kubectl(cluster, ['delete', 'pod', pod.metadata.name, '--wait=false', '--ignore-not-found'])
    }
  } catch {
    // Only saves time.
  }
}

/** Reasons that time alone does not correct. A missing Secret may come from another program, so it also gets some time. */
const lasting = /ErrImageNeverPull|InvalidImageName|ImagePullBackOff|ErrImagePull|CreateContainerConfigError/
const lastingMs = 60_000

export function watchPods(cluster: Cluster, onProgress: (line: string) => void, onLasting: () => void) {
  const states = new Map<string, string>()
  const since = new Map<string, number>()
  let reason: string | undefined
  let isStopped = false
  const show = (name: string, state: string, shown = name) => {
    if (states.get(name) !== state) onProgress(`${shown}: ${state}`)
    states.set(name, state)
  }
  const judge = (name: string, problem: string | undefined) => {
    if (!problem) since.delete(name)
    else if (!since.has(name)) since.set(name, Date.now())
    else if (Date.now() - (since.get(name) ?? 0) > lastingMs) {
      reason = `${name}: ${problem}`
      onLasting()
    }
  }
  const look = async () => {
    for (const pod of await readPods(cluster)) {
      const { name } = pod.metadata
      show(name, stateOf(pod), partOf(pod) === setupPart ? setupPart : name)
      const waiting = isEnding(pod) ? undefined : waitingReason(pod)
      judge(name, waiting && lasting.test(waiting) ? waiting : undefined)
    }
    for (const deployment of await readDeployments(cluster)) {
      const { name } = deployment.metadata
      const refusal = refusalOf(deployment)
      if (refusal) show(name, refusal)
      judge(name, refusal)
    }
  }
  const loop = (async () => {
    while (!isStopped) {
      // The API server may be away for a moment. Helm reports longer outages.
      await look().catch(() => {})
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    }
  })()
  return {
    reason: () => reason,
    stop: async () => {
      isStopped = true
      await loop
    },
  }
}

async function installFailure(cluster: Cluster, error: CliError, reason: string | undefined): Promise<CliError> {
  if (reason) {
    return new CliError('cluster-failed', reason, { nextStep: 'correct the cause, then make up', cause: error })
  }
  if (error.code !== 'cluster-failed') return error
  if (/another operation .* is in progress/.test(error.message)) {
    return new CliError('cluster-failed', 'an earlier make up or make down was interrupted', {
      nextStep: `helm rollback ${applicationName} --kube-context ${cluster.context} --namespace ${cluster.namespace}, or make down; then make up`,
      cause: error,
    })
  }
  const args = ['logs', `job/${applicationName}-setup`, '--tail', '20']
  const log = /-setup failed|hook/.test(error.message) ? await kubectl(cluster, args).catch(() => '') : ''
  const shown = log ? `${error.message}\nThe log of setup ends with:\n${log.trimEnd()}` : error.message
  const nextStep = log
    ? 'correct the cause, then make up. Secrets keep their values, so first delete those with a wrong value'
    : 'make status, make logs'
  return new CliError('cluster-failed', shown, { nextStep, cause: error })
}
