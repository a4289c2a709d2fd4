import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CliError } from '../lib/error.ts'
import { apiKeysFile, applicationName, repository } from '../lib/paths.ts'
import { poll } from '../lib/poll.ts'
import { services } from '../lib/services.ts'
import type { ProgressOptions } from '../runner.ts'
import { addressesOf } from './addresses.ts'
import {
  type Cluster,
  helm,
  kubectl,
  ownLabel,
  programMissing,
  type RecordedCluster,
  sendObjects,
  writeRecord,
} from './cluster.ts'
import { chooseCluster, requireConsent } from './consent.ts'
import { provideImages } from './images.ts'
import { linesFromInside } from './inside.ts'
import { requireInjector, requireKafka, requireNamedSettings, requireProducts } from './needs.ts'
import { isEnding, partOf, readDeployments, readPods, refusalOf, setupPart, stateOf, waitingReason } from './pods.ts'
import { ensureApiKeysSecret, ensureSecrets, operatorSecret, readSecrets } from './secrets.ts'
import { chartFolder, type KubernetesStore, namedStore, readValues, valuesFile } from './values.ts'

interface KubernetesUpOptions extends ProgressOptions {
  store: KubernetesStore
}

/** The time after which Helm gives up. The first start includes pulling all images. */
const startTimeoutMinutes = 10

export async function kubernetesUp({ store, ...options }: KubernetesUpOptions): Promise<RecordedCluster> {
  const { onProgress, signal } = options
  const missing = await programMissing()
  if (missing) throw missing
  const named = namedStore()
  if (named && named !== store) {
    throw new CliError('usage', `${valuesFile} has store: ${named}, but STORE=${store}`, {
      nextStep: `leave STORE out, or change store in ${valuesFile}`,
    })
  }
  const values = { ...readValues(), store }
  requireKafka(values)
  requireNamedSettings(values, process.env)
  const cluster = await chooseCluster(process.env)
  onProgress(`context ${cluster.context} (${cluster.server}), namespace ${cluster.namespace}`)
  await requireConsent(cluster, process.env)
  await requireProducts(cluster, values)
  await ensureNamespace(cluster, onProgress)
  if (values.sidecar === 'injected') await requireInjector(cluster)
  writeRecord({ ...cluster, store })
  const written = await ensureSecrets(cluster, values)
  if (written.length > 0) onProgress(`Secrets: created or completed ${written.join(', ')}`)
  const keys = existsSync(apiKeysFile) ? readFileSync(apiKeysFile, 'utf8') : '[]'
  const apiKeys = await ensureApiKeysSecret(cluster, values, keys)
  const images = await provideImages(cluster, values, options)
  onProgress('release: installing')
  await install(cluster, { store, apiKeys, images }, options)
  await untilReplaced(cluster, options)
  // Without an operator of Kafka, only the readiness of the pods is known.
  if ((await readSecrets(cluster)).some(({ metadata }) => metadata.name === operatorSecret)) {
    const inside = { addresses: addressesOf(values), signal }
    for (const line of await linesFromInside(cluster, ['await-consumers'], inside)) onProgress(line)
  }
  if (!values.route.enabled) for (const line of portForwards(cluster)) onProgress(line)
  return { ...cluster, store }
}

async function ensureNamespace(cluster: Cluster, onProgress: (line: string) => void): Promise<void> {
  const { namespace: name } = cluster
  const found = await kubectl(cluster, ['get', 'namespace', name, '--ignore-not-found', '--output', 'name'])
  if (found.trim()) return
  const labels = { ...ownLabel, 'pod-security.kubernetes.io/enforce': 'restricted' }
  await sendObjects(cluster, 'create', [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }])
  onProgress(`namespace ${name}: created`)
}

/** Installs or upgrades the release, and waits until all pods are ready. Reports each change of a pod's state. */
async function install(cluster: Cluster, values: object, { onProgress, signal }: ProgressOptions): Promise<void> {
  const own = existsSync(join(repository, valuesFile)) ? ['--values', valuesFile] : []
  const wait = ['--wait', '--timeout', `${startTimeoutMinutes}m`]
  // The values of this command come last, because Helm lets them replace earlier ones.
  const args = ['upgrade', '--install', applicationName, chartFolder, ...own, '--values', '-', ...wait]
  const stopped = new AbortController()
  const either = AbortSignal.any([signal, stopped.signal])
  const timeoutMs = (startTimeoutMinutes + 1) * 60_000
  const installing = helm(cluster, args, { input: JSON.stringify(values), timeoutMs, signal: either })
  const watched = watchPods(cluster, onProgress, () => stopped.abort())
  try {
    await installing
  } catch (error) {
    throw await installFailure(cluster, error as CliError, watched.reason())
  } finally {
    await watched.stop()
  }
}

/** Longer than the grace period of pods in the chart. */
const endTimeoutMs = 60_000

/** Waits until replaced pods have ended, because they handle events with the old settings until then. A lost node may keep its pods for longer. */
async function untilReplaced(cluster: Cluster, { onProgress, signal }: ProgressOptions): Promise<void> {
  const isGone = async () => !(await readPods(cluster)).some((pod) => partOf(pod) !== setupPart && isEnding(pod))
  if (await poll(isGone, { timeoutMs: endTimeoutMs, everyMs: 500, signal })) return
  onProgress('warning: replaced pods have not ended yet, and may handle events with the old settings: make status')
}

/** Reasons that time alone does not correct. A missing Secret may come from another program, so it also gets some time. */
const lasting = /ErrImageNeverPull|InvalidImageName|ImagePullBackOff|ErrImagePull|CreateContainerConfigError/
const lastingMs = 60_000

function watchPods(cluster: Cluster, onProgress: (line: string) => void, onLasting: () => void) {
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

/** Returns the commands that make the services reachable on this machine. */
function portForwards(cluster: Cluster): string[] {
  const options = `--context ${cluster.context} --namespace ${cluster.namespace}`
  return [
    'to reach the services from this machine, run in another terminal:',
    ...services.map(({ name, http }) => `  kubectl ${options} port-forward service/${name} ${http}`),
  ]
}
