import { setTimeout as delay } from 'node:timers/promises'
import { deadLetterTopic } from '@orderflow/envelope-schema'
import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import { settingDifferences, settingsOf } from '@orderflow/service-kit/topic-settings'
import { type Unread, unreadIn } from '@orderflow/service-kit/unread'
import type { Admin } from '@platformatic/kafka'
import type { GroupLag, HealthView, ServiceHealth, TopicHealth } from '../api/system.ts'
import { isOwnTopic } from '../ingest/own-topic.ts'
import type { WatchedService } from '../services.ts'

/** What the broker and services say of themselves. */
export interface Seen {
  at: string
  kafka: HealthView['kafka']
  services: ServiceHealth[]
  groups: GroupLag[]
  topics: TopicHealth[]
  settings: string[]
}

const timeoutMs = 2_500
/** What was seen holds this long. */
const freshMs = 2_000
/** Whoever asks waits no longer than this for something newer than what was seen last, */
const patienceMs = 500
/** unless that is older than this. */
const staleMs = 5_000
/** A rate over longer than this is none of now. */
const rateMs = 30_000

/**
 * Looks when somebody asks, and not otherwise: services ask the broker whether they are ready. By one connection to the broker: to log in
 * costs it more than to answer.
 */
export class Lookout {
  readonly #kafka: KafkaConnection
  readonly #watched: readonly WatchedService[]
  readonly #now: () => Date
  readonly #wait: (ms: number) => Promise<unknown>
  #admin: Admin | undefined
  #seen: Seen | undefined
  #looking: Promise<void> | undefined

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

  /** What there is to be seen, as of two seconds ago or later; as of five, where a look takes its time. */
  async see(): Promise<Seen> {
    const before = this.#seen
    const age = before ? this.#now().getTime() - Date.parse(before.at) : Number.POSITIVE_INFINITY
    if (before && age < freshMs) return before
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
    await (age < staleMs ? Promise.race([this.#looking, this.#wait(patienceMs)]) : this.#looking)
    return this.#seen as Seen
  }

  async close(): Promise<void> {
    const closing = this.#admin
    this.#admin = undefined
    await closing?.close().catch(() => {})
  }

  async #look(): Promise<void> {
    const at = this.#now().toISOString()
    // Nothing is heard while it is loaded, the first time: that must not be of the time that services have to answer in.
    await import('@platformatic/kafka')
    const [stream, services] = await Promise.all([this.#lookAtKafka(at), Promise.all(this.#watched.map(lookAtService))])
    this.#seen = { at, services, ...stream }
  }

  async #lookAtKafka(at: string): Promise<Stream & Pick<Seen, 'settings'>> {
    try {
      const admin = await this.#open()
      const stream = await streamAt(at, admin, this.#watched, this.#seen)
      const used = this.#watched.flatMap(({ consumes, publishes }) => [...consumes, ...Object.keys(publishes)])
      const names = used.flatMap((topic) => [topic, deadLetterTopic(topic)])
      const wanted = new Map(names.map((topic) => [topic, settingsOf(topic)]))
      return { ...stream, settings: await settingDifferences(admin, this.#kafka, wanted) }
    } catch (error) {
      // What a broker was before it broke off says nothing of the one that comes back.
      void this.close()
      const { topics = [], groups = [], settings = [] } = this.#seen ?? {}
      return { kafka: { isUp: false, brokers: [], error: (error as Error).message }, topics, groups, settings }
    }
  }

  async #open(): Promise<Admin> {
    const { Admin } = await import('@platformatic/kafka')
    const options = { clientId: 'event-monitor', retries: 0, connectTimeout: 2_000, timeout: timeoutMs }
    this.#admin ??= new Admin({ ...options, ...this.#kafka })
    return this.#admin
  }
}

async function lookAtService({ name, url }: WatchedService): Promise<ServiceHealth> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(timeoutMs) })
    const { missing = {}, redelivered = [] } = (await response.json()) as Partial<Ready>
    const reason = Object.entries(missing)
      .map(([part, why]) => `${part}: ${why}`)
      .join('; ')
    const sidecar = 'sidecar' in missing ? 'down' : 'up'
    return { name, url, state: response.ok ? 'ready' : 'not-ready', reason: reason || null, sidecar, redelivered }
  } catch (error) {
    const reason = (error as Error).name === 'TimeoutError' ? 'it does not answer in time' : 'nothing answers there'
    return { name, url, state: 'unreachable', reason, sidecar: 'unknown', redelivered: [] }
  }
}

/** What a service answers at `/readyz` (service-kit/src/web/health.ts). */
interface Ready extends Pick<ServiceHealth, 'redelivered'> {
  missing: Record<string, string>
}

type Stream = Pick<Seen, 'kafka' | 'groups' | 'topics'>

async function streamAt(
  at: string,
  admin: Admin,
  watched: readonly WatchedService[],
  before: Seen | undefined,
): Promise<Stream> {
  const { ListOffsetTimestamps } = await import('@platformatic/kafka')
  const names = (await admin.listTopics()).filter(isOwnTopic).sort()
  const { topics, brokers, controllerId } = await admin.metadata({ topics: names, forceUpdate: true })
  const asked = (timestamp: bigint) =>
    admin.listOffsets({
      topics: names.map((name) => ({
        name,
        partitions: Object.keys(topics.get(name)?.partitions ?? {}).map((index) => ({
          partitionIndex: Number(index),
          timestamp,
        })),
      })),
    })
  const [firsts, ends] = await Promise.all([asked(ListOffsetTimestamps.EARLIEST), asked(ListOffsetTimestamps.LATEST)])
  const offsetsIn = (found: typeof ends, topic: string) =>
    (found.find(({ name }) => name === topic)?.partitions ?? [])
      .toSorted((one, other) => one.partitionIndex - other.partitionIndex)
      .map(({ offset }) => String(offset))
  const passedMs = before ? Date.parse(at) - Date.parse(before.at) : 0
  const views = names.map((name): TopicHealth => {
    const [oldestOffset, endOffset] = [offsetsIn(firsts, name), offsetsIn(ends, name)]
    const last = before?.topics.find(({ topic }) => topic === name)?.endOffset ?? endOffset
    const arrived = sum(endOffset) - sum(last)
    return {
      topic: name,
      partitions: endOffset.length,
      oldestOffset,
      endOffset,
      perSecond: passedMs > 0 && passedMs <= rateMs ? Math.max(0, Math.round((arrived * 1_000) / passedMs)) : 0,
      isDead: name.endsWith('.dead'),
    }
  })
  const listed = [...brokers].map(([id, { host, port }]) => ({
    id,
    address: `${host}:${port}`,
    isController: id === controllerId,
  }))
  return {
    kafka: { isUp: true, brokers: listed, error: null },
    topics: views,
    groups: await groupsOf(admin, watched, views),
  }
}

const sum = (offsets: readonly string[]) => offsets.reduce((total, offset) => total + Number(offset), 0)

async function groupsOf(
  admin: Admin,
  watched: readonly WatchedService[],
  topics: readonly TopicHealth[],
): Promise<GroupLag[]> {
  const consumers = watched.filter(({ consumes }) => consumes.length > 0)
  if (consumers.length === 0) return []
  const found = await admin.listConsumerGroupOffsets({ groups: consumers.map(({ name }) => name) })
  const stretches = consumers.flatMap(({ name: group, consumes }) =>
    topics
      .filter(({ topic }) => consumes.includes(topic))
      .flatMap(({ topic, oldestOffset, endOffset }) =>
        endOffset.map((end, partition) => {
          const own = found
            .find(({ groupId }) => groupId === group)
            ?.topics.find(({ name }) => name === topic)?.partitions
          const committed = own?.find(({ partitionIndex }) => partitionIndex === partition)?.committedOffset ?? -1n
          const oldest = BigInt(oldestOffset[partition] ?? '0')
          return { group, topic, partition, next: committed < oldest ? oldest : committed, end: BigInt(end) }
        }),
      ),
  )
  const unread = await unreadIn(admin, stretches)
  return stretches.map(({ group, topic, partition, next, end }, index) => {
    const { count: lag, isAtMost } = unread[index] as Unread
    return { group, topic, partition, position: String(next), end: String(end), lag, isAtMost }
  })
}
