import { setTimeout as delay } from 'node:timers/promises'
import type { Admin } from '@platformatic/kafka'
import { openAdmin } from './admin.ts'
import type { KafkaConnection } from './connection.ts'
import { createClock } from './merge-by-time.ts'
import { fetchFrom, type Partition, partitionKey, requireReadable, type Unreadable } from './partitions.ts'
import { describeLog, type Extent } from './positions.ts'
import type { LogRecord } from './record.ts'

export interface TailPosition extends Partition {
  /** Changes if the topic is created again. */
  topicId: string
  /** The first offset that was not read. */
  next: bigint
}

/** Offsets that cannot be read any more: the retention removed their records, or the topic was created again. */
export interface Gap extends Partition {
  from: bigint
  to: bigint
  why: 'truncated' | 'recreated'
}

export interface Read {
  /** Records of all partitions, merged by time. The records of each partition keep their order. */
  records: LogRecord[]
  /** Positions after these records, and after offsets without a record, such as a transaction's marker. */
  positions: TailPosition[]
  gaps: Gap[]
}

export interface TailOptions {
  /** By default, all topics except internal ones. */
  topics?: readonly string[]
  /** Maps `topic/partition` to the position at which an earlier tail ended. */
  stored?: ReadonlyMap<string, TailPosition>
  /**
   * Returns the first offset to read of a partition without a stored position. Later partitions, and all partitions by default, are read from their
   * first record.
   * @param all the extents of all readable partitions
   */
  begin?: (extent: Extent, all: readonly Extent[]) => bigint
}

interface Tailed extends Extent {
  next: bigint
  /** False until the next refresh if the partition is unreadable. */
  isReadable: boolean
}

/** The interval at which new topics and partitions are discovered. */
const refreshMs = 3_000
/** The shorter interval after a failed read, because the leader may have changed. */
const retryMs = 1_000
/** The wait also delays the records of other brokers. */
const fetchLimits = { bytes: 256 * 1024, waitMs: 100 }

/** Reads topics from given positions as records arrive, without a consumer group. An unreadable partition does not stop the others. */
export class LogTail {
  readonly #open: () => Promise<Admin>
  readonly #options: TailOptions
  readonly #partitions = new Map<string, Tailed>()
  readonly #unreadable = new Map<string, Unreadable>()
  /** Gaps and positions that no call has returned yet. */
  #gaps: Gap[] = []
  readonly #moved = new Map<string, TailPosition>()
  #admin: Admin | undefined
  #refreshAt = Number.NEGATIVE_INFINITY

  /** @param open is called once; its connection is closed with this tail */
  constructor(open: () => Promise<Admin>, options: TailOptions = {}) {
    this.#open = open
    this.#options = options
  }

  /** The number of unread offsets. */
  get lag(): number {
    return lagOf([...this.#partitions.values()])
  }

  get readableLag(): number {
    return lagOf([...this.#partitions.values()].filter(({ isReadable }) => isReadable))
  }

  get unreadable(): Unreadable[] {
    return [...this.#unreadable.values()]
  }

  /** Returns the position of the first record of a partition. */
  startOf(topic: string, partition: number): Pick<TailPosition, 'topicId' | 'next'> | undefined {
    const known = this.#partitions.get(partitionKey({ topic, partition }))
    return known && { topicId: known.topicId, next: known.start }
  }

  /**
   * Returns new records, or none after a short wait. After an error, the next call continues.
   * @throws {LogError} if all partitions are unreadable
   * @throws the client's error if no broker answers
   */
  async read(): Promise<Read> {
    this.#admin ??= await this.#open()
    if (performance.now() > this.#refreshAt) await this.#refresh(this.#admin)
    const readable = [...this.#partitions.values()].filter(({ isReadable }) => isReadable)
    const { values, unreadable } = await fetchFrom(this.#admin, readable, fetchLimits)
    for (const one of unreadable) this.#lose(one)
    if (values.size === 0) {
      requireReadable(this)
      await delay(fetchLimits.waitMs)
    }
    const fetched: LogRecord[][] = []
    for (const [key, { records, next, end, isOutOfRange }] of values) {
      const partition = this.#partitions.get(key) as Tailed
      this.#unreadable.delete(key)
      if (isOutOfRange) {
        this.#refreshAt = Number.NEGATIVE_INFINITY
        continue
      }
      if (next > partition.next) this.#moved.set(key, positionOf({ ...partition, next }))
      partition.next = next
      partition.end = next > end ? next : end
      fetched.push(records)
    }
    const read = { records: byTime(fetched), positions: [...this.#moved.values()], gaps: this.#gaps }
    this.#moved.clear()
    this.#gaps = []
    return read
  }

  async close(): Promise<void> {
    await this.#admin?.close().catch(() => {})
  }

  #lose(lost: Unreadable): void {
    const key = partitionKey(lost)
    this.#unreadable.set(key, lost)
    const partition = this.#partitions.get(key)
    if (partition) partition.isReadable = false
    this.#refreshAt = Math.min(this.#refreshAt, performance.now() + retryMs)
  }

  async #refresh(admin: Admin): Promise<void> {
    const { topics: asked, stored, begin } = this.#options
    const { topics, extents, unreadable } = await describeLog(admin, asked ?? null)
    const first = this.#partitions.size === 0 ? begin : undefined
    this.#refreshAt = performance.now() + refreshMs
    for (const [key, { topic, partition }] of this.#partitions) {
      // Keeps the partitions of an unreadable topic, because their number is unknown.
      const isUnknown = unreadable.some((one) => one.topic === topic && one.partition === null)
      if (partition >= (topics.get(topic) ?? 0) && !isUnknown) this.#partitions.delete(key)
    }
    for (const [key, { topic, partition }] of this.#unreadable)
      if (partition === null || partition >= (topics.get(topic) ?? 0)) this.#unreadable.delete(key)
    for (const extent of extents) {
      const { topic, partition, topicId, start, end } = extent
      const key = partitionKey(extent)
      const previous = this.#partitions.get(key) ?? stored?.get(key)
      const from = previous?.next ?? first?.(extent, extents) ?? start
      const isRecreated = (previous && previous.topicId !== topicId) || from > end
      const why = isRecreated ? 'recreated' : from < start ? 'truncated' : undefined
      if (why) this.#gaps.push({ topic, partition, from, to: start, why })
      const tailed = { ...extent, next: why ? start : from, isReadable: true }
      if (tailed.next !== previous?.next) this.#moved.set(key, positionOf(tailed))
      this.#partitions.set(key, tailed)
    }
    for (const one of unreadable) this.#lose(one)
  }
}

const lagOf = (partitions: Tailed[]) =>
  partitions.reduce((sum, { next, end }) => sum + (end > next ? Number(end - next) : 0), 0)

const positionOf = ({ topic, partition, topicId, next }: TailPosition): TailPosition => ({
  topic,
  partition,
  topicId,
  next,
})

function byTime(fetched: LogRecord[][]): LogRecord[] {
  const timed = fetched.flatMap((records) => {
    const timeOf = createClock()
    return records.map((record) => ({ record, time: timeOf(record.timestamp) }))
  })
  return timed.sort((one, other) => one.time - other.time).map(({ record }) => record)
}

/**
 * Passes records on as they arrive, until it is closed. After an outage, it continues where it ended.
 * @throws the errors of `LogTail.read` if the log is unreadable from the beginning
 */
export async function followLog(kafka: KafkaConnection, options: TailOptions, onRecord: (record: LogRecord) => void) {
  const tail = new LogTail(() => openAdmin(kafka, { requestTimeout: 5_000 }), options)
  let reads = 0
  let isClosed = false

  const pass = ({ records }: Read) => {
    if (!isClosed) records.forEach(onRecord)
    reads += 1
  }

  async function follow(): Promise<void> {
    while (!isClosed) {
      const read = await tail.read().catch(() => delay(retryMs))
      if (read) pass(read)
    }
  }

  async function close(): Promise<void> {
    isClosed = true
    await tail.close()
  }

  await tail.read().then(pass, async (error) => {
    await close()
    throw error
  })
  void follow()
  return {
    /** Waits until all records from before this call have been read, and so have the markers at the ends of transactions. */
    async caughtUp(): Promise<void> {
      // The present read may have begun before this call.
      const enough = reads + 2
      while (!isClosed && (reads < enough || tail.lag > 0)) await delay(10)
    },
    close,
  }
}
