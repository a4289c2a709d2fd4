import { existsSync, readFileSync } from 'node:fs'
import { apiKeysFile } from '../application/paths.ts'
import { requireStoresUnused, services, storedServices } from '../application/services.ts'
import { CliError } from '../base/error.ts'
import { poll } from '../base/run-tool.ts'
import type { ProgressOptions } from '../runner.ts'
import {
  type Cluster,
  kubectl,
  ownLabel,
  programMissing,
  type RecordedCluster,
  sendObjects,
  writeRecord,
} from './cluster.ts'
import { install } from './helm-release.ts'
import { provideImages } from './images.ts'
import { addressesOf, linesFromInside } from './inside.ts'
import {
  chooseCluster,
  requireConsent,
  requireInjector,
  requireKafka,
  requireNamedSettings,
  requireNoRebuild,
  requireProducts,
} from './needs.ts'
import { isEnding, partOf, readPods, setupPart } from './pods.ts'
import { rebuildStores, requireRebuilt, withPods } from './rebuild.ts'
import { ensureApiKeysSecret, ensureSecrets, operatorSecret, readSecrets } from './secrets.ts'
import { type KubernetesStore, namedStore, readValues, valuesFile } from './values.ts'

interface KubernetesUpOptions extends ProgressOptions {
  store: KubernetesStore
  rebuild: boolean
}

export async function kubernetesUp({ store, rebuild, ...options }: KubernetesUpOptions): Promise<RecordedCluster> {
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
  requireNoRebuild(values)
  requireNamedSettings(values, process.env)
  const cluster = await chooseCluster(process.env)
  onProgress(`context ${cluster.context} (${cluster.server}), namespace ${cluster.namespace}`)
  await requireConsent(cluster, process.env)
  if (rebuild) requireStoresUnused(await withPods(cluster))
  else await requireRebuilt(cluster)
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
  const apply = (more: object) => install(cluster, { store, apiKeys, images, ...more }, options)
  if (rebuild) {
    const names = storedServices.map(({ name }) => name)
    await rebuildStores(cluster, { services: names, apply, again: 'make up REBUILD=1', ...options })
  } else await apply({})
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

/** Longer than the grace period of pods in the chart. */
const endTimeoutMs = 60_000

/** Waits until replaced pods have ended, because they handle events with the old settings until then. A lost node may keep its pods for longer. */
async function untilReplaced(cluster: Cluster, { onProgress, signal }: ProgressOptions): Promise<void> {
  const isGone = async () => !(await readPods(cluster)).some((pod) => partOf(pod) !== setupPart && isEnding(pod))
  if (await poll(isGone, { timeoutMs: endTimeoutMs, everyMs: 500, signal })) return
  onProgress('warning: replaced pods have not ended yet, and may handle events with the old settings: make status')
}

/** Returns the commands that make the services reachable on this machine. */
function portForwards(cluster: Cluster): string[] {
  const options = `--context ${cluster.context} --namespace ${cluster.namespace}`
  return [
    'to reach the services from this machine, run in another terminal:',
    ...services.map(({ name, http }) => `  kubectl ${options} port-forward service/${name} ${http}`),
  ]
}
