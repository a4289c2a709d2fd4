import type { Admin } from '@platformatic/kafka'
import { earliest, fetchBatches, type Metadata, metadataOf, offsetsAt, type Partition } from './kafka.ts'
import { type LogRecord, recordsOf } from './log-record.ts'

/** An unread part of a partition, from the offset `next` up to, but excluding, `end`. */
interface Stretch extends Partition {
  next: bigint
  end: bigint
}

export interface Unread {
  /** The first unread record, with its time of arrival in milliseconds since 1970. */
  first: { offset: bigint; timestamp: number } | undefined
  count: number
  /** True if `count` is only an upper limit, because the part is too long to read completely. */
  isAtMost: boolean
}

const none: Unread = { first: undefined, count: 0, isAtMost: false }

const fetchBytes = 64 * 1024

/**
 * Counts the records in unread parts by reading the log. The difference between two offsets would be too high, because some offsets have no record,
 * and others have the marker of a transaction. Records of aborted transactions are counted, because sidecars deliver them.
 */
export async function unreadIn(admin: Admin, stretches: readonly Stretch[]): Promise<Unread[]> {
  const topics = new Set(stretches.filter(({ next, end }) => next < end).map(({ topic }) => topic))
  if (topics.size === 0) return stretches.map(() => none)
  const metadata = await metadataOf(admin, [...topics])
  return await Promise.all(
    stretches.map((stretch) => (stretch.next < stretch.end ? look(admin, metadata, stretch) : none)),
  )
}

async function look(admin: Admin, metadata: Metadata, stretch: Stretch): Promise<Unread> {
  const { topic, partition, end } = stretch
  let { next } = stretch
  let first: LogRecord | undefined
  let count = 0
  // A fetch may end at the end of a log segment, or return only offsets that have no record. Then the next fetch continues.
  for (let bytes = 0; next < end && (!first || bytes < fetchBytes); ) {
    const batches = await fetchBatches(admin, metadata, { topic, partition, offset: next, bytes: fetchBytes })
    if (batches === 'out-of-range') {
      next = await startBehind(admin, { ...stretch, next })
      continue
    }
    const last = batches.at(-1)
    // A fetch returns at least one batch, if one exists.
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

async function startBehind(admin: Admin, { topic, partition, next }: Stretch): Promise<bigint> {
  const [start = 0n] = await offsetsAt(admin, [{ topic, partition }], earliest)
  if (start <= next) throw new Error(`${topic}/${partition} cannot be read at ${next}`)
  return start
}
