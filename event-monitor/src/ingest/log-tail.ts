import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import { type LogRecord, recordsOf } from '@orderflow/service-kit/log'
import { Admin, Consumer, FetchIsolationLevels, findErrorBy, ListOffsetTimestamps } from '@platformatic/kafka'
import type { Gap, Position } from '../index/batch.ts'
import { isOwnTopic } from './own-topic.ts'

/** What was read at once. */
export interface Read {
  /** Those of a partition in its order, all together by their times. */
  records: LogRecord[]
  /** Where partitions stand after them, also past what holds no record, such as a transaction's marker. */
  positions: Position[]
  gaps: Gap[]
}

interface Partition extends Position {
  leader: number
  /** Where the partition ends, as far as it was told. */
  end: number
}

/** Bytes asked of a partition and of a broker at a time: what is read must fit in memory as objects, several times its size. */
const partitionBytes = 256 * 1024
const brokerBytes = 1024 * 1024
/** How long a broker waits for a first record. Another one that has records waits as long with it. */
const maxWaitMs = 100
/** Topics and partitions that are made while we read are seen after this at the latest. */
const refreshMs = 3_000

/**
 * Reads all topics of a log from where it stands, as a plain client: in no group, so that no rebalance stops it, and leaving no trace.
 * Whatever throws, is tried again with a new one.
 */
export class LogTail {
  readonly #consumer: Consumer<Buffer, Buffer, Buffer, Buffer>
  readonly #admin: Admin
  readonly #partitions = new Map<string, Partition>()
  readonly #stored: ReadonlyMap<string, Position>
  readonly #newest: number
  readonly #now: () => number
  #refreshedAt = Number.NEGATIVE_INFINITY
  #isBehindRange = false

  /**
   * @param stored where to go on, by `topic/partition`
   * @param newest how many records of a longer log are worth reading, when none were read before
   */
  constructor(kafka: KafkaConnection, stored: ReadonlyMap<string, Position>, newest: number, now: () => number) {
    const common = { clientId: 'event-monitor', ...kafka, retries: 0, connectTimeout: 2_000, timeout: 5_000 }
    this.#consumer = new Consumer({
      ...common,
      groupId: 'event-monitor',
      isolationLevel: FetchIsolationLevels.READ_UNCOMMITTED,
    })
    this.#admin = new Admin(common)
    this.#stored = stored
    this.#newest = newest
    this.#now = now
  }

  /** Records of the log that are not read yet, as far as brokers told. */
  get lag(): number {
    return [...this.#partitions.values()].reduce((sum, { next, end }) => sum + Math.max(0, end - next), 0)
  }

  /** What comes next; nothing when there was nothing for a while. */
  async read(): Promise<Read> {
    const gaps: Gap[] = []
    const moved = new Map<string, Position>()
    if (this.#isBehindRange || this.#now() - this.#refreshedAt > refreshMs) await this.#refresh(gaps, moved)
    const byLeader = Map.groupBy(this.#partitions.values(), ({ leader }) => leader)
    const fetched = await Promise.all([...byLeader].map(([leader, own]) => this.#fetch(leader, own)))
    const records = byTime(fetched.flat(), moved)
    return { records, positions: [...moved.values()], gaps }
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.#consumer.close(true), this.#admin.close()])
  }

  async #fetch(leader: number, partitions: Partition[]): Promise<{ partition: Partition; records: LogRecord[] }[]> {
    const topics = [...Map.groupBy(partitions, ({ topicId }) => topicId)].map(([topicId, own]) => ({
      topicId,
      partitions: own.map(({ partition, next }) => ({
        partition,
        fetchOffset: BigInt(next),
        currentLeaderEpoch: -1,
        lastFetchedEpoch: -1,
        partitionMaxBytes: partitionBytes,
      })),
    }))
    try {
      const response = await this.#consumer.fetch({
        node: leader,
        topics,
        maxWaitTime: maxWaitMs,
        maxBytes: brokerBytes,
      })
      return response.responses.flatMap(({ topicId, partitions: answers }) =>
        answers.flatMap((answer) => {
          const partition = partitions.find((one) => one.topicId === topicId && one.partition === answer.partitionIndex)
          if (!partition) return []
          const from = BigInt(partition.next)
          const batches = answer.records ?? []
          const records = batches
            .flatMap((batch) => recordsOf(partition.topic, partition.partition, batch))
            .filter(({ offset }) => offset >= from)
          const last = batches.at(-1)
          if (last) partition.next = Math.max(partition.next, Number(last.firstOffset) + last.lastOffsetDelta + 1)
          partition.end = Math.max(partition.next, Number(answer.highWatermark))
          return last ? [{ partition, records }] : []
        }),
      )
    } catch (error) {
      if (!findErrorBy(error as Error, 'apiId', 'OFFSET_OUT_OF_RANGE')) throw error
      this.#isBehindRange = true
      return []
    }
  }

  /** Looks which topics and partitions there are, where they begin and end, and who leads them. */
  async #refresh(gaps: Gap[], moved: Map<string, Position>): Promise<void> {
    const names = (await this.#admin.listTopics()).filter(isOwnTopic)
    for (const topic of [...this.#consumer.topics.current])
      if (!names.includes(topic)) this.#consumer.topics.untrack(topic)
    for (const topic of names) if (!this.#consumer.topics.has(topic)) this.#consumer.topics.track(topic)
    const { topics } = await this.#admin.metadata({ topics: names, forceUpdate: true })
    const ends = names.length > 0 ? await this.#offsets(names, ListOffsetTimestamps.LATEST) : new Map()
    const starts = names.length > 0 ? await this.#offsets(names, ListOffsetTimestamps.EARLIEST) : new Map()
    const isFirst = this.#stored.size === 0 && this.#partitions.size === 0
    const total = sumOf(ends) - sumOf(starts)
    const share = isFirst && total > this.#newest ? this.#newest / total : 1
    const seen = new Set<string>()
    for (const [topic, { id: topicId, partitions }] of topics) {
      for (const [index, { leader }] of Object.entries(partitions)) {
        const partition = Number(index)
        const key = `${topic}/${partition}`
        seen.add(key)
        const [start, end] = [Number(starts.get(topic)?.[partition] ?? 0n), Number(ends.get(topic)?.[partition] ?? 0n)]
        const known = this.#partitions.get(key) ?? this.#stored.get(key)
        const begin = Math.max(start, Math.ceil(end - (end - start) * share))
        const found = { topic, partition, topicId, leader, end, next: known?.next ?? begin }
        const at = this.#now()
        if (known && known.topicId !== topicId) {
          gaps.push({ topic, partition, from: known.next, to: start, at, why: 'recreated' })
          found.next = start
        } else if (found.next > end) {
          gaps.push({ topic, partition, from: found.next, to: start, at, why: 'recreated' })
          found.next = start
        } else if (found.next < start) {
          gaps.push({ topic, partition, from: found.next, to: start, at, why: 'truncated' })
          found.next = start
        }
        if (!known || found.next !== known.next) moved.set(key, positionOf(found))
        this.#partitions.set(key, found)
      }
    }
    for (const key of this.#partitions.keys()) if (!seen.has(key)) this.#partitions.delete(key)
    this.#refreshedAt = this.#now()
    this.#isBehindRange = false
  }

  #offsets(topics: string[], timestamp: bigint): Promise<Map<string, bigint[]>> {
    return this.#consumer.listOffsets({ topics, timestamp })
  }
}

const sumOf = (offsets: Map<string, bigint[]>) =>
  Number([...offsets.values()].flat().reduce((sum, one) => sum + one, 0n))

const positionOf = ({ topic, partition, topicId, next }: Position): Position => ({ topic, partition, topicId, next })

/** Partitions together by time, and never against the order of one: a record counts as no earlier than those before it. */
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
