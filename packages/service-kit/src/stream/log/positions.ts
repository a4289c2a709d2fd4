import type { Admin } from '@platformatic/kafka'
import { earliest, latest, offsetsAt, type Partition } from './kafka.ts'
import { recordTime } from './record-time.ts'
import { unreadIn } from './unread.ts'

/** The offsets of the first stored record and of the next new record. Not every offset between them has a record. */
export interface Extent extends Partition {
  first: bigint
  end: bigint
}

export interface Position extends Partition {
  group: string
  /** The offset at which the group continues. There may be no record at this offset. */
  next: bigint
  end: bigint
  /** The number of unhandled records. 0 is exact; a large number is an upper bound. */
  lag: number
  /** The time at which the oldest unhandled record reached the log, in milliseconds since 1970; undefined if it is unknown. */
  oldest: number | undefined
}

/** Returns the extent of each partition. Requires the right to describe the topics. */
export async function extentsOf(admin: Admin, topics: readonly string[]): Promise<Extent[]> {
  const { topics: found } = await admin.metadata({ topics: [...topics], forceUpdate: true })
  const partitions = [...found].flatMap(([topic, { partitionsCount }]) =>
    Array.from({ length: partitionsCount }, (_, partition) => ({ topic, partition })),
  )
  const [firsts, ends] = await Promise.all([
    offsetsAt(admin, partitions, earliest),
    offsetsAt(admin, partitions, latest),
  ])
  return partitions.map((each, index) => ({ ...each, first: firsts[index] ?? 0n, end: ends[index] ?? 0n }))
}

/**
 * Returns the positions of groups. A new group begins with the oldest record (components/kafka.yaml). Requires the rights to describe the groups and
 * to read the topics.
 * @param consumed the topics of each group
 */
export async function positionsOf(admin: Admin, consumed: ReadonlyMap<string, readonly string[]>): Promise<Position[]> {
  const groups = await admin.listConsumerGroupOffsets({ groups: [...consumed.keys()] })
  // Reads the ends last, so that they include events that services publish during this call.
  const extents = await extentsOf(admin, [...new Set([...consumed.values()].flat())])
  const stretches = [...consumed].flatMap(([group, topics]) => {
    const committed = groups.find(({ groupId }) => groupId === group)?.topics ?? []
    return extents
      .filter(({ topic }) => topics.includes(topic))
      .map(({ topic, partition, first, end }) => {
        const offsets = committed.find(({ name }) => name === topic)?.partitions
        const offset = offsets?.find(({ partitionIndex }) => partitionIndex === partition)?.committedOffset ?? first
        return { group, topic, partition, next: offset < first ? first : offset, end }
      })
  })
  const unread = await unreadIn(admin, stretches)
  return stretches.map((stretch, index) => ({
    ...stretch,
    lag: unread[index]?.count ?? 0,
    oldest: knownTime(unread[index]?.first?.timestamp),
  }))
}

/** A publisher can leave out the time on a topic with CreateTime. Kafka then stores -1. */
const knownTime = (timestamp = 0): number | undefined => (timestamp > 0 ? recordTime(timestamp) : undefined)
