import type { Admin } from '@platformatic/kafka'
import {
  earliest,
  fetchFrom,
  type LedPartition,
  latest,
  offsetsAt,
  type Partition,
  type Partitions,
  partitionKey,
  partitionsOf,
  requireReadable,
} from './partitions.ts'
import type { LogRecord } from './record.ts'
import { recordTime } from './record-time.ts'

/** A partition with the offsets of its first stored record and of its next new record. Not every offset between them has a record. */
export interface Extent extends LedPartition {
  start: bigint
  end: bigint
}

/**
 * Returns the readable partitions of topics with their extents, and the unreadable ones with the reason. Requires the right to describe the topics.
 * @param topics null for all topics except internal ones
 * @throws the client's error if no broker answers
 */
export async function describeLog(
  admin: Admin,
  topics: readonly string[] | null,
): Promise<Partitions & { extents: Extent[] }> {
  const log = await partitionsOf(admin, topics)
  const [starts, ends] = await Promise.all([earliest, latest].map((end) => offsetsAt(admin, log.led, () => end)))
  const extents = log.led.flatMap((partition) => {
    const [start, end] = [starts, ends].map((answers) => answers?.values.get(partitionKey(partition)))
    return start === undefined || end === undefined ? [] : [{ ...partition, start, end }]
  })
  const unreadable = [log, starts, ends].flatMap((answers) => answers?.unreadable ?? [])
  return { ...log, extents, unreadable }
}

/** Returns the extent of each partition. @throws {LogError} if a topic or partition is unreadable */
export async function extentsOf(admin: Admin, topics: readonly string[]): Promise<Extent[]> {
  return topics.length === 0 ? [] : requireReadable(await describeLog(admin, topics)).extents
}

/** The offset at which a consumer group continues. */
export interface GroupPosition extends Partition {
  group: string
  offset: bigint
}

/** Returns the committed positions of consumer groups. Requires the right to describe the groups. */
export async function groupPositions(admin: Admin, groups: readonly string[]): Promise<GroupPosition[]> {
  if (groups.length === 0) return []
  const found = await admin.listConsumerGroupOffsets({ groups: [...groups] })
  return found.flatMap(({ groupId: group, topics }) =>
    topics.flatMap(({ name: topic, partitions }) =>
      partitions
        // Kafka returns -1 for a partition without a committed offset.
        .filter(({ committedOffset }) => committedOffset >= 0n)
        .map(({ partitionIndex: partition, committedOffset: offset }) => ({ group, topic, partition, offset })),
    ),
  )
}

/** The unread part of a partition, from the offset `next` up to, but excluding, `end`. There may be no record at `next`. */
export interface UnreadPart extends Extent {
  group: string
  next: bigint
}

/** Returns the unread parts of a group. A new group begins with the oldest record (components/kafka.yaml). */
export function unreadParts(
  group: string,
  extents: readonly Extent[],
  committed: readonly GroupPosition[],
): UnreadPart[] {
  const offsets = new Map(
    committed.filter((each) => each.group === group).map((each) => [partitionKey(each), each.offset]),
  )
  return extents.map((extent) => {
    const { start } = extent
    const offset = offsets.get(partitionKey(extent)) ?? start
    return { group, ...extent, next: offset < start ? start : offset }
  })
}

export interface Position extends UnreadPart {
  /** The number of unhandled records. 0 is exact; a large number is an upper bound. */
  lag: number
  /** The time at which the oldest unhandled record reached the log, in milliseconds since 1970; undefined if it is unknown. */
  oldest: number | undefined
}

/**
 * Returns the positions of groups. Requires the rights to describe the groups and to read the topics.
 * @param consumed the topics of each group
 */
export async function positionsOf(admin: Admin, consumed: ReadonlyMap<string, readonly string[]>): Promise<Position[]> {
  const committed = await groupPositions(admin, [...consumed.keys()])
  // Reads the ends last, so that they include events that services publish during this call.
  const extents = await extentsOf(admin, [...new Set([...consumed.values()].flat())])
  const parts = [...consumed].flatMap(([group, topics]) => {
    const own = extents.filter(({ topic }) => topics.includes(topic))
    return unreadParts(group, own, committed)
  })
  const unread = await unreadIn(admin, parts)
  return parts.map((part, index) => ({
    ...part,
    lag: unread[index]?.count ?? 0,
    oldest: knownTime(unread[index]?.first?.timestamp),
  }))
}

/** A publisher can leave out the time on a topic with CreateTime. Kafka then stores -1. */
const knownTime = (timestamp = 0): number | undefined => (timestamp > 0 ? recordTime(timestamp) : undefined)

export interface Unread {
  /** The first unread record. */
  first: LogRecord | undefined
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
export async function unreadIn(
  admin: Admin,
  parts: readonly (LedPartition & { next: bigint; end: bigint })[],
): Promise<Unread[]> {
  return await Promise.all(parts.map((part) => readPart(admin, part)))
}

async function readPart(admin: Admin, part: LedPartition & { next: bigint; end: bigint }): Promise<Unread> {
  const { end } = part
  const key = partitionKey(part)
  let { next } = part
  let first: LogRecord | undefined
  let count = 0
  // A fetch may end at the end of a log segment, or return only offsets that have no record. Then the next fetch continues.
  for (let bytes = 0; next < end && (!first || bytes < fetchBytes); ) {
    const fetched = requireReadable(await fetchFrom(admin, [{ ...part, next }], { bytes: fetchBytes })).values.get(key)
    if (fetched?.isOutOfRange) {
      const start = requireReadable(await offsetsAt(admin, [part], () => earliest)).values.get(key) ?? 0n
      if (start <= next) throw new Error(`${key} cannot be read at ${next}`)
      next = start
      continue
    }
    // A fetch returns at least one batch, if one exists.
    if (!fetched || fetched.next === next) break
    const unread = fetched.records.filter(({ offset }) => offset < end)
    first ??= unread[0]
    count += unread.length
    if (first) bytes += fetched.bytes
    next = fetched.next
  }
  if (!first) return none
  const ahead = next < end ? Number(end - next) : 0
  return { first, count: count + ahead, isAtMost: ahead > 0 }
}
