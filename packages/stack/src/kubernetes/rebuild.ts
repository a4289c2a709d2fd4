import { storedServices } from '../application/services.ts'
import { CliError } from '../base/error.ts'
import { pause } from '../base/run-tool.ts'
import { timed } from '../base/terminal.ts'
import type { ProgressOptions } from '../runner.ts'
import { type Cluster, kubectl, kubectlJson, releaseSelector } from './cluster.ts'
import { change, watchPods } from './helm-release.ts'
import { jobPart, nameLabel, partOf, readPods } from './pods.ts'

interface RebuildOptions extends ProgressOptions {
  /** The services whose stores are rebuilt. */
  services: readonly string[]
  /** Installs or changes the release with some values. */
  apply: (values: { rebuild: readonly string[] }) => Promise<void>
  /** The command that repeats the rebuild after a failure. */
  again: string
}

/**
 * Rebuilds stores from the log by Jobs of the chart, then starts the services. These services get their pods afterwards, so that they never
 * handle events on an incomplete store. The first change of the release also creates missing databases, users and topics.
 * @throws {CliError} `cluster-failed` if a Job fails; its service stays stopped
 */
export async function rebuildStores(cluster: Cluster, { services, apply, ...options }: RebuildOptions): Promise<void> {
  await apply({ rebuild: services })
  const stopped = new AbortController()
  const watched = watchPods(cluster, options.onProgress, () => stopped.abort())
  try {
    const signal = AbortSignal.any([options.signal, stopped.signal])
    for (const service of services) await untilRebuilt(cluster, service, { ...options, signal })
  } catch (error) {
    const reason = watched.reason()
    throw reason ? failed(reason, options.again, error as Error) : error
  } finally {
    await watched.stop()
  }
  await apply({ rebuild: [] })
}

/** Returns the names of services that have pods, also of pods that are ending. */
export async function withPods(cluster: Cluster): Promise<string[]> {
  return [...new Set((await readPods(cluster)).map(partOf))]
}

/** Returns the services whose rebuild has not ended. The change of the release that starts them also removes their Jobs. */
async function unfinishedRebuilds(cluster: Cluster): Promise<string[]> {
  const { items } = await kubectlJson<{ items: Job[] }>(cluster, ['get', 'jobs', '--selector', releaseSelector])
  const names = new Set(items.map(({ metadata }) => metadata.labels?.[nameLabel]))
  return storedServices.map(({ name }) => name).filter((name) => names.has(jobPart(name)))
}

/** @throws {CliError} `usage` if a service would start with an incomplete store */
export async function requireRebuilt(cluster: Cluster): Promise<void> {
  const names = await unfinishedRebuilds(cluster)
  if (names.length === 0) return
  throw new CliError('usage', `the rebuild of a store has not ended: ${names.join(', ')}`, {
    nextStep: `make rebuild SERVICE=${names[0]}, which rebuilds and starts all of them`,
  })
}

interface Job {
  metadata: { name: string; labels?: Record<string, string>; creationTimestamp: string; deletionTimestamp?: string }
  status?: { conditions?: { type: string; status: string; message?: string }[] }
}

const everyMs = 2_000

/** Waits without a limit, because the log may be long. The Job continues during an outage of the API server. */
async function untilRebuilt(
  cluster: Cluster,
  service: string,
  { onProgress, signal, again }: Omit<RebuildOptions, 'services' | 'apply'>,
): Promise<void> {
  onProgress(`${service}: rebuilding its store from the log`)
  let shown: string | undefined
  const show = async (job: string) => {
    const args = ['logs', `job/${job}`, '--container', service, '--tail', '20']
    const lines = (await kubectl(cluster, args).catch(() => '')).split('\n').filter(Boolean)
    for (const line of lines.slice(lines.lastIndexOf(shown ?? '') + 1)) onProgress(`${service}: ${line}`)
    shown = lines.at(-1) ?? shown
  }
  for (;;) {
    const job = await newestJob(cluster, service).catch(unlessAway)
    const has = (type: string) => job?.status?.conditions?.find((one) => one.type === type && one.status === 'True')
    const failure = has('Failed')
    if (job) await show(job.metadata.name)
    if (failure) throw failed(`the store of ${service} is not rebuilt: ${failure.message}`, again)
    if (has('Complete')) return
    await pause(everyMs, signal)
  }
}

/** Helm removes the Job of an earlier rebuild later than it creates the new one. */
async function newestJob(cluster: Cluster, service: string): Promise<Job | undefined> {
  const selector = `${releaseSelector},${nameLabel}=${jobPart(service)}`
  const { items } = await kubectlJson<{ items: Job[] }>(cluster, ['get', 'jobs', '--selector', selector])
  const present = items.filter(({ metadata }) => !metadata.deletionTimestamp)
  return present.sort((a, b) => a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp)).at(-1)
}

function unlessAway(error: CliError): undefined {
  if (error.code !== 'unreachable') throw error
  return undefined
}

function failed(reason: string, again: string, cause?: Error): CliError {
  return new CliError('cluster-failed', reason, {
    nextStep: `correct the cause, then ${again}; until then the service stays stopped`,
    cause,
  })
}

/**
 * Rebuilds the store of a service that has no pods, and starts the service.
 * @throws {CliError} `still-running` while its last pods end, `usage` for a part of the log
 */
export async function rebuildStopped(cluster: Cluster, name: string, range: string[]): Promise<number> {
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
