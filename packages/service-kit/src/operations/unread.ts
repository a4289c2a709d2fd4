import type { Admin, Broker } from '@platformatic/kafka'
import { fetchBatches, leaderOf, metadataOf } from '../stream/kafka.ts'
import { type LogRecord, recordsOf } from './log-reader.ts'

/** A part of a partition that a reader has not read: from the offset `next` to before the offset `end`. */
interface Stretch {
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
  const metadata = await metadataOf(admin, [...topics])
  return await Promise.all(
    stretches.map((stretch) => {
      if (stretch.next >= stretch.end) return none
      const { leader, topicId } = leaderOf(metadata, stretch)
      return look(admin, leader, topicId, stretch)
    }),
  )
}

async function look(admin: Admin, leader: Broker, topicId: string, stretch: Stretch): Promise<Unread> {
  const { topic, partition, end } = stretch
  let { next } = stretch
  let first: LogRecord | undefined
  let count = 0
  // Goes on past what holds no record, and in the next segment of the log.
  for (let bytes = 0; next < end && (!first || bytes < fetchBytes); ) {
    const batches = await fetchBatches(admin, leader, { topic, topicId, partition, offset: next, bytes: fetchBytes })
    if (batches === 'out-of-range') {
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

/** Returns the offset at which the log begins by now. */
async function startBehind(admin: Admin, { topic, partition, next }: Stretch): Promise<bigint> {
  const { ListOffsetTimestamps } = await import('@platformatic/kafka')
  const partitions = [{ partitionIndex: partition, timestamp: ListOffsetTimestamps.EARLIEST }]
  const [answer] = await admin.listOffsets({ topics: [{ name: topic, partitions }] })
  const start = answer?.partitions[0]?.offset ?? 0n
  if (start <= next) throw new Error(`${topic}/${partition} cannot be read at ${next}`)
  return start
}
