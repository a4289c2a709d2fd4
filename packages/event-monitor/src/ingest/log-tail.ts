import type { KafkaConnection, Leader } from '@orderflow/service-kit/kafka'
import { type LogRecord, recordsOf } from '@orderflow/service-kit/log'
import { Admin, ListOffsetTimestamps } from '@platformatic/kafka'
import type { Unreadable } from '../api/events.ts'
import type { Gap, Position } from '../index/record.ts'
import { describeLog, fetchFrom, offsetsAt, partitionKey, unreachable } from './partitions.ts'

export interface Read {
  /** Records of all partitions, merged by time. The records of each partition keep their order. */
  records: LogRecord[]
  /** Positions after these records, and after offsets without a record, such as a transaction's marker. */
  positions: Position[]
  gaps: Gap[]
}

interface Partition extends Position {
  /** Undefined if the partition is unreadable until the next refresh. */
  leader: Leader | undefined
  /** The offsets of the log's first record, and of its next record. */
  start: number
  end: number
}

/** The interval at which new topics and partitions are discovered. */
const refreshMs = 3_000
/** The shorter interval after a failed read, because the leader may have changed. */
const retryMs = 1_000

/**
 * Reads all topics from stored positions, without a consumer group. After an error, create a new `LogTail`.
 */
export class LogTail {
  readonly #admin: Admin
  readonly #partitions = new Map<string, Partition>()
  readonly #stored: ReadonlyMap<string, Position>
  readonly #newest: number
  readonly #now: () => number
  #refreshAt = Number.NEGATIVE_INFINITY
  readonly #unreadable = new Map<string, Unreadable>()

  /**
   * @param stored maps `topic/partition` to the start position
   * @param newest number of newest events to read if no position is stored. Dead letters are read completely
   */
  constructor(kafka: KafkaConnection, stored: ReadonlyMap<string, Position>, newest: number, now: () => number) {
    this.#admin = new Admin({
      clientId: 'event-monitor',
      ...kafka,
      retries: 0,
      connectTimeout: 2_000,
      requestTimeout: 5_000,
    })
    this.#stored = stored
    this.#newest = newest
    this.#now = now
  }

  get lag(): number {
    return lagOf([...this.#partitions.values()])
  }

  get readableLag(): number {
    return lagOf([...this.#partitions.values()].filter(({ leader }) => leader))
  }

  get unreadable(): Unreadable[] {
    return [...this.#unreadable.values()]
  }

  startOf(topic: string, partition: number): Pick<Position, 'topicId' | 'next'> | undefined {
    const known = this.#partitions.get(partitionKey({ topic, partition }))
    return known && { topicId: known.topicId, next: known.start }
  }

  /** Returns new records, or none after a short wait. @throws {Error} if all partitions are unreadable */
  async read(): Promise<Read> {
    const gaps: Gap[] = []
    const moved = new Map<string, Position>()
    if (this.#now() > this.#refreshAt) await this.#refresh(gaps, moved)
    const readable = [...this.#partitions.values()].filter(({ leader }) => leader)
    const byLeader = Map.groupBy(readable, ({ leader }) => (leader as Leader).nodeId)
    const fetched = await Promise.all([...byLeader.values()].map((own) => this.#fetch(own)))
    const [problem] = this.#unreadable.values()
    if (problem && !fetched.some((one) => one))
      throw new Error(`${partitionKey(problem)} is unreadable: ${problem.why}`)
    const records = byTime(
      fetched.flatMap((one) => one ?? []),
      moved,
    )
    return { records, positions: [...moved.values()], gaps }
  }

  async close(): Promise<void> {
    await this.#admin.close().catch(() => {})
  }

  /** Returns undefined if the leader does not answer. */
  async #fetch(own: Partition[]): Promise<{ partition: Partition; records: LogRecord[] }[] | undefined> {
    const { leader } = own[0] as { leader: Leader }
    try {
      const { values, unreadable, isOutOfRange } = await fetchFrom(this.#admin, leader, own)
      for (const one of unreadable) this.#lose(one)
      if (isOutOfRange) this.#refreshAt = Number.NEGATIVE_INFINITY
      return own.flatMap((partition) => {
        const key = partitionKey(partition)
        const answer = values.get(key)
        if (!answer) return []
        this.#unreadable.delete(key)
        const from = BigInt(partition.next)
        const records = answer.batches
          .flatMap((batch) => recordsOf(partition.topic, partition.partition, batch))
          .filter(({ offset }) => offset >= from)
        const last = answer.batches.at(-1)
        if (last) partition.next = Math.max(partition.next, Number(last.firstOffset) + last.lastOffsetDelta + 1)
        partition.end = Math.max(partition.next, Number(answer.end))
        return last ? [{ partition, records }] : []
      })
    } catch (error) {
      for (const { topic, partition } of own) this.#lose({ topic, partition, why: unreachable(leader, error) })
      return undefined
    }
  }

  #lose(lost: Unreadable): void {
    const key = partitionKey(lost)
    this.#unreadable.set(key, lost)
    const partition = this.#partitions.get(key)
    if (partition) partition.leader = undefined
    this.#refreshAt = Math.min(this.#refreshAt, this.#now() + retryMs)
  }

  async #refresh(gaps: Gap[], moved: Map<string, Position>): Promise<void> {
    const { topics, led, unreadable } = await describeLog(this.#admin)
    const ends = await offsetsAt(this.#admin, led, ListOffsetTimestamps.LATEST)
    const starts = await offsetsAt(this.#admin, led, ListOffsetTimestamps.EARLIEST)
    const isFirst = this.#stored.size === 0 && this.#partitions.size === 0
    const total = eventsIn(ends.values) - eventsIn(starts.values)
    const share = isFirst && total > this.#newest ? this.#newest / total : 1
    this.#refreshAt = this.#now() + refreshMs
    for (const [key, { topic, partition }] of this.#partitions) {
      // Keeps the partitions of an unreadable topic, because their number is unknown.
      const count = topics.get(topic) ?? 0
      const isUnknown = unreadable.some((one) => one.topic === topic && one.partition === null)
      if (partition >= count && !isUnknown) this.#partitions.delete(key)
    }
    for (const [key, { topic, partition }] of this.#unreadable)
      if (partition === null || partition >= (topics.get(topic) ?? 0)) this.#unreadable.delete(key)
    for (const { topic, topicId, partition, leader } of led) {
      const key = partitionKey({ topic, partition })
      const [first, last] = [starts.values.get(key), ends.values.get(key)]
      if (first === undefined || last === undefined) continue
      const [start, end] = [Number(first), Number(last)]
      const previous = this.#partitions.get(key) ?? this.#stored.get(key)
      const begin = isDead(topic) ? start : Math.max(start, Math.ceil(end - (end - start) * share))
      const next = { topic, partition, topicId, leader, start, end, next: previous?.next ?? begin }
      const at = this.#now()
      if (previous && previous.topicId !== topicId) {
        gaps.push({ topic, partition, from: previous.next, to: start, at, why: 'recreated' })
        next.next = start
      } else if (next.next > end) {
        gaps.push({ topic, partition, from: next.next, to: start, at, why: 'recreated' })
        next.next = start
      } else if (next.next < start) {
        gaps.push({ topic, partition, from: next.next, to: start, at, why: 'truncated' })
        next.next = start
      }
      if (!previous || next.next !== previous.next) moved.set(key, positionOf(next))
      this.#partitions.set(key, next)
    }
    for (const one of [...unreadable, ...ends.unreadable, ...starts.unreadable]) this.#lose(one)
  }
}

const isDead = (topic: string) => topic.endsWith('.dead')

/** @param offsets by `topic/partition` */
const eventsIn = (offsets: Map<string, bigint>) =>
  [...offsets].reduce(
    (sum, [key, offset]) => sum + (isDead(key.slice(0, key.lastIndexOf('/'))) ? 0 : Number(offset)),
    0,
  )

const lagOf = (partitions: Partition[]) => partitions.reduce((sum, { next, end }) => sum + Math.max(0, end - next), 0)

const positionOf = ({ topic, partition, topicId, next }: Position): Position => ({ topic, partition, topicId, next })

function byTime(fetched: { partition: Partition; records: LogRecord[] }[], moved: Map<string, Position>): LogRecord[] {
  for (const { partition } of fetched) moved.set(`${partition.topic}/${partition.partition}`, positionOf(partition))
  const [only] = fetched
  if (fetched.length === 1 && only) return only.records
  const timed = fetched.flatMap(({ records }) => {
    let latest = 0
    return records.map((record) => {
      latest = Math.max(latest, record.timestamp)
      return { record, time: latest }
    })
  })
  return timed.sort((one, other) => one.time - other.time).map(({ record }) => record)
}
