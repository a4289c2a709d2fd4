import type { Admin, Broker, RecordsBatch } from '@platformatic/kafka'
import { answerOf, requestAt, requestOf } from '../stream/kafka-request.ts'
import { type LogRecord, recordsOf } from './log-record.ts'

/** A part of a partition that a reader has not read: from the offset `next` to before the offset `end`. */
export interface Stretch {
  topic: string
  partition: number
  next: bigint
  end: bigint
}

/** The records in a stretch. */
export interface Unread {
  /** The first of them, and when it reached the log, in milliseconds since 1970; undefined if there is none. */
  first: { offset: bigint; timestamp: number } | undefined
  /** How many there are: 0 only if there is none. */
  count: number
  /** Whether `count` is an upper bound, because the rest of the stretch is too long to be looked at. */
  isAtMost: boolean
}

const none: Unread = { first: undefined, count: 0, isAtMost: false }

/** Bytes that one look at a stretch fetches. A batch that is larger comes whole (KIP-74). */
const fetchBytes = 64 * 1024

/**
 * Returns which records stretches hold, by looking at the log. Offsets cannot answer that: the marker that ends a transaction takes one and
 * is never delivered, and compaction and DeleteRecords leave gaps. Records of aborted transactions count, since sidecars deliver them.
 * Takes the right to read the topics.
 * @throws what the client throws
 */
export async function unreadIn(admin: Admin, stretches: readonly Stretch[]): Promise<Unread[]> {
  const topics = new Set(stretches.filter(({ next, end }) => next < end).map(({ topic }) => topic))
  if (topics.size === 0) return stretches.map(() => none)
  // Of a topic whose other partitions have no leader, too.
  const metadata = await requestOf<Metadata>(admin, 'Metadata', [...topics], false, false).catch(answerOf<Metadata>)
  return await Promise.all(
    stretches.map((stretch) => {
      if (stretch.next >= stretch.end) return none
      const topic = metadata.topics.find(({ name }) => name === stretch.topic)
      const leader = topic?.partitions.find(({ partitionIndex }) => partitionIndex === stretch.partition)?.leaderId
      const broker = metadata.brokers.find(({ nodeId }) => nodeId === leader)
      if (!broker) throw new Error(`partition ${stretch.topic}/${stretch.partition} has no leader`)
      return look(admin, broker, topic?.topicId ?? '', stretch)
    }),
  )
}

interface Metadata {
  brokers: (Broker & { nodeId: number })[]
  topics: { name: string; topicId?: string; partitions: { partitionIndex: number; leaderId: number }[] }[]
}

async function look(admin: Admin, leader: Broker, topicId: string, stretch: Stretch): Promise<Unread> {
  const { topic, partition, end } = stretch
  let { next } = stretch
  let first: LogRecord | undefined
  let count = 0
  // Goes on past what holds no record, and in the next segment of the log.
  for (let bytes = 0; next < end && (!first || bytes < fetchBytes); ) {
    const batches = await fetch(admin, leader, topicId, { ...stretch, next })
    if (batches === 'truncated') {
      next = await startBehind(admin, { ...stretch, next })
      continue
    }
    const last = batches.at(-1)
    // A fetch of one partition brings at least one batch if there is one.
    if (!last) break
    const records = batches.flatMap((batch) => recordsOf(topic, partition, batch))
    const unread = records.filter(({ offset }) => offset >= next && offset < end)
    first ??= unread[0]
    count += unread.length
    if (first) bytes += batches.reduce((sum, { length }) => sum + length, 0)
    next = last.firstOffset + BigInt(last.lastOffsetDelta) + 1n
  }
  if (!first) return none
  const { offset, timestamp } = first
  const ahead = next < end ? Number(end - next) : 0
  return { first: { offset, timestamp }, count: count + ahead, isAtMost: ahead > 0 }
}

/** Outside a fetch session (KIP-227), which would need a client of its own for each reader. */
const noSession = { id: 0, epoch: -1 }
/** As sidecars read: with records of transactions that are open, or were aborted. */
const uncommitted = 0

/** Returns the next batches of a partition, at least one if there is one; or that the log begins behind the offset. */
async function fetch(
  admin: Admin,
  leader: Broker,
  topicId: string,
  { topic, partition, next }: Stretch,
): Promise<RecordsBatch[] | 'truncated'> {
  const { findErrorBy } = await import('@platformatic/kafka')
  const asked = {
    partition,
    fetchOffset: next,
    currentLeaderEpoch: -1,
    lastFetchedEpoch: -1,
    partitionMaxBytes: fetchBytes,
  }
  try {
    const { responses } = await requestAt<FetchResponse>(admin, leader, 'Fetch', (version) => [
      ...[0, 1, fetchBytes, uncommitted, noSession.id, noSession.epoch],
      // Topics have names up to version 12, and ids from then on.
      [{ topicId: version > 12 ? topicId : topic, partitions: [asked] }],
      ...[[], ''],
    ])
    return responses.flatMap(({ partitions }) => partitions.flatMap(({ records }) => records ?? []))
  } catch (error) {
    if (findErrorBy(error as Error, 'apiId', 'OFFSET_OUT_OF_RANGE')) return 'truncated'
    throw error
  }
}

interface FetchResponse {
  responses: { partitions: { records: RecordsBatch[] | null }[] }[]
}

/** Returns the offset at which the log begins by now. */
async function startBehind(admin: Admin, { topic, partition, next }: Stretch): Promise<bigint> {
  const { ListOffsetTimestamps } = await import('@platformatic/kafka')
  const partitions = [{ partitionIndex: partition, timestamp: ListOffsetTimestamps.EARLIEST }]
  const [answer] = await admin.listOffsets({ topics: [{ name: topic, partitions }] })
  const start = answer?.partitions[0]?.offset ?? 0n
  if (start <= next) throw new Error(`${topic}/${partition} cannot be read at ${next}`)
  return start
}
