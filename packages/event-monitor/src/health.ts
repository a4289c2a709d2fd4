import { setTimeout as delay } from 'node:timers/promises'
import { deadLetterTopic } from '@orderflow/envelope'
import {
  describeLog,
  type Extent,
  groupPositions,
  type KafkaConnection,
  openAdmin,
  partitionKey,
  type Unread,
  unreadIn,
  unreadParts,
} from '@orderflow/kafka-log'
import { settingDifferences, settingsOf } from '@orderflow/service-kit/log'
import type { Admin } from '@platformatic/kafka'
import type { GroupLag, HealthView, ServiceHealth, TopicHealth } from './api/system.ts'
import type { WatchedService } from './services.ts'

export interface SystemStatus {
  at: string
  kafka: HealthView['kafka']
  services: ServiceHealth[]
  groups: GroupLag[]
  topics: TopicHealth[]
  settings: string[]
}

const timeoutMs = 2_500
/** A status that is younger than this time is returned again. */
const freshMs = 2_000
/** Longest wait for a newer status, while the previous status is not stale. */
const patienceMs = 500
/** Age from which a status is stale. */
const staleMs = 5_000
/** Longest time between two measurements of a rate. */
const rateMs = 30_000

/**
 * Reads the state only on request, because each read causes requests to the broker, from the monitor and from all
 * services. Keeps its own connection to the broker open, because a login costs more than a request.
 */
export class HealthProbe {
  readonly #kafka: KafkaConnection
  readonly #watched: readonly WatchedService[]
  readonly #now: () => Date
  readonly #wait: (ms: number) => Promise<unknown>
  #admin: Admin | undefined
  #latest: SystemStatus | undefined
  #probing: Promise<void> | undefined

  constructor(
    kafka: KafkaConnection,
    watched: readonly WatchedService[],
    now: () => Date,
    wait: (ms: number) => Promise<unknown> = (ms) => delay(ms, undefined, { ref: false }),
  ) {
    this.#kafka = kafka
    this.#watched = watched
    this.#now = now
    this.#wait = wait
  }

  /** Returns a state that is at most two seconds old, or at most five seconds while services answer slowly. */
  async status(): Promise<SystemStatus> {
    const before = this.#latest
    const age = before ? this.#now().getTime() - Date.parse(before.at) : Number.POSITIVE_INFINITY
    if (before && age < freshMs) return before
    this.#probing ??= this.#probe().finally(() => {
      this.#probing = undefined
    })
    await (age < staleMs ? Promise.race([this.#probing, this.#wait(patienceMs)]) : this.#probing)
    return this.#latest as SystemStatus
  }

  async close(): Promise<void> {
    const closing = this.#admin
    this.#admin = undefined
    await closing?.close().catch(() => {})
  }

  async #probe(): Promise<void> {
    const at = this.#now().toISOString()
    // Loads the client first. Loading blocks the thread, so services would seem to answer late.
    await import('@platformatic/kafka')
    const [stream, services] = await Promise.all([this.#probeKafka(at), Promise.all(this.#watched.map(probeService))])
    this.#latest = { at, services, ...stream }
  }

  async #probeKafka(at: string): Promise<Stream & Pick<SystemStatus, 'settings'>> {
    try {
      const admin = await this.#open()
      const stream = await streamAt(at, admin, this.#watched, this.#latest)
      const used = this.#watched.flatMap(({ consumes, publishes }) => [...consumes, ...Object.keys(publishes)])
      const names = used.flatMap((topic) => [topic, deadLetterTopic(topic)])
      const wanted = new Map(names.map((topic) => [topic, settingsOf(topic)]))
      return { ...stream, settings: await settingDifferences(admin, wanted) }
    } catch (error) {
      // Connects again next time, because another broker may answer.
      void this.close()
      const { topics = [], groups = [], settings = [] } = this.#latest ?? {}
      return { kafka: { isUp: false, brokers: [], error: (error as Error).message }, topics, groups, settings }
    }
  }

  async #open(): Promise<Admin> {
    this.#admin ??= await openAdmin(this.#kafka, { clientId: 'event-monitor', requestTimeout: timeoutMs })
    return this.#admin
  }
}

async function probeService({ name, url }: WatchedService): Promise<ServiceHealth> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(timeoutMs) })
    const { missing = {}, warnings = [], redelivered = [] } = (await response.json()) as Partial<Ready>
    const reason = Object.entries(missing)
      .map(([part, why]) => `${part}: ${why}`)
      .join('; ')
    const sidecar = 'sidecar' in missing ? 'down' : 'up'
    const state = response.ok ? 'ready' : 'not-ready'
    return { name, url, state, reason: reason || null, sidecar, warnings, redelivered }
  } catch (error) {
    const reason = (error as Error).name === 'TimeoutError' ? 'it does not answer in time' : 'nothing answers there'
    return { name, url, state: 'unreachable', reason, sidecar: 'unknown', warnings: [], redelivered: [] }
  }
}

/** A service's answer to `/readyz` (packages/service-kit/src/web/web.ts). */
interface Ready extends Pick<ServiceHealth, 'warnings' | 'redelivered'> {
  missing: Record<string, string>
}

type Stream = Pick<SystemStatus, 'kafka' | 'groups' | 'topics'>

async function streamAt(
  at: string,
  admin: Admin,
  watched: readonly WatchedService[],
  before: SystemStatus | undefined,
): Promise<Stream> {
  const { topics: counts, brokers, controllerId, extents } = await describeLog(admin, null)
  const known = new Map(extents.map((extent) => [partitionKey(extent), extent]))
  const offsetsIn = (end: 'start' | 'end', topic: string, count: number) =>
    Array.from(
      { length: count },
      (_, partition) => known.get(partitionKey({ topic, partition }))?.[end].toString() ?? null,
    )
  const passedMs = before ? Date.parse(at) - Date.parse(before.at) : 0
  const views = [...counts].sort().map(([topic, count]): TopicHealth => {
    const [oldestOffset, endOffset] = [offsetsIn('start', topic, count), offsetsIn('end', topic, count)]
    const last = before?.topics.find((one) => one.topic === topic)?.endOffset ?? endOffset
    return {
      topic,
      partitions: count,
      oldestOffset,
      endOffset,
      perSecond: passedMs > 0 && passedMs <= rateMs ? Math.round((arrived(last, endOffset) * 1_000) / passedMs) : 0,
      isDead: topic.endsWith('.dead'),
    }
  })
  const listed = brokers.map(({ nodeId: id, host, port }) => ({
    id,
    address: `${host}:${port}`,
    isController: id === controllerId,
  }))
  const { groups, error } = await groupsOf(admin, watched, extents)
  return { kafka: { isUp: true, brokers: listed, error }, topics: views, groups }
}

/** Returns the number of new offsets in partitions that were readable in both measurements. */
const arrived = (before: TopicHealth['endOffset'], now: TopicHealth['endOffset']) =>
  now.reduce((total, end, partition) => {
    const last = before[partition] ?? null
    return end === null || last === null ? total : total + Math.max(0, Number(end) - Number(last))
  }, 0)

async function groupsOf(
  admin: Admin,
  watched: readonly WatchedService[],
  extents: readonly Extent[],
): Promise<{ groups: GroupLag[]; error: string | null }> {
  const consumers = watched.filter(({ consumes }) => consumes.length > 0)
  const errors: string[] = []
  const parts = await Promise.all(
    consumers.map(async ({ name: group, consumes }) => {
      try {
        const own = extents.filter(({ topic }) => consumes.includes(topic))
        return unreadParts(group, own, await groupPositions(admin, [group]))
      } catch (error) {
        errors.push(`the offsets of group ${group} cannot be read: ${(error as Error).message}`)
        return []
      }
    }),
  )
  const all = parts.flat()
  const unread = await unreadIn(admin, all)
  const groups = all.map(({ group, topic, partition, next, end }, index) => {
    const { count: lag, isAtMost } = unread[index] as Unread
    return { group, topic, partition, position: String(next), end: String(end), lag, isAtMost }
  })
  return { groups, error: errors.join('; ') || null }
}

const latencyPeriodMs = 60_000
/** The number of reactions that are measured separately. It is limited, because publishers choose the names. */
const maxReactions = 100
const otherReactions = '(others)'

/** The delays of reactions in the last minute. */
export class Latencies {
  readonly #samples = new Map<string, { at: number; ms: number }[]>()

  add(name: string, ms: number, at: number): void {
    if (!this.#samples.has(name) && this.#samples.size >= maxReactions) this.#forget(at)
    const reaction = this.#samples.has(name) || this.#samples.size < maxReactions ? name : otherReactions
    const list = this.#samples.get(reaction) ?? []
    this.#samples.set(reaction, list)
    list.push({ at, ms })
    if (list.length > 5_000) list.splice(0, list.length - 5_000)
  }

  #forget(now: number): void {
    for (const [reaction, list] of this.#samples)
      if ((list.at(-1)?.at ?? 0) <= now - latencyPeriodMs) this.#samples.delete(reaction)
  }

  view(now: number): HealthView['latency'] {
    return [...this.#samples].flatMap(([reaction, list]) => {
      const times = list
        .filter(({ at }) => at > now - latencyPeriodMs)
        .map(({ ms }) => ms)
        .sort((one, other) => one - other)
      const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0
      return times.length > 0 ? [{ reaction, p50: at(0.5), p95: at(0.95), count: times.length }] : []
    })
  }
}
