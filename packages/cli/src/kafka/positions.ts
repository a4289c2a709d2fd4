import { unreadIn } from '@orderflow/service-kit/unread'
import type { Admin } from '@platformatic/kafka'

/** A partition of a topic. */
interface Partition {
  topic: string
  partition: number
}

/**
 * The offsets of a partition: of the first record that is still there, and of the next one to come. Some in between may
 * hold no record.
 */
export interface Extent extends Partition {
  first: bigint
  end: bigint
}

/** The position of a consumer group in a partition. */
export interface Position extends Partition {
  group: string
  /** The offset that it goes on at. There need be no record. */
  next: bigint
  /** The offset of the next record to come. */
  end: bigint
  /** The number of records left to handle: 0 only if none is left, an upper bound if they are many. */
  lag: number
  /** When the oldest of these reached the log, in milliseconds since 1970; undefined if there is none. */
  oldest: number | undefined
}

// Kafka's timestamps for the two ends of a partition.
const earliest = -2n
const latest = -1n

const keyOf = ({ topic, partition }: Partition) => `${topic}/${partition}`

/** Returns the extents of topics, by partition. Takes the right to describe them. */
export async function extentsOf(admin: Admin, topics: readonly string[]): Promise<Extent[]> {
  const { topics: found } = await admin.metadata({ topics: [...topics], forceUpdate: true })
  const partitions = [...found].flatMap(([topic, { partitionsCount }]) =>
    Array.from({ length: partitionsCount }, (_, partition) => ({ topic, partition })),
  )
  const [firsts, ends] = await Promise.all([
    offsetsAt(admin, partitions, earliest),
    offsetsAt(admin, partitions, latest),
  ])
  return partitions.map((each) => ({
    ...each,
    first: firsts.get(keyOf(each)) ?? 0n,
    end: ends.get(keyOf(each)) ?? 0n,
  }))
}

/**
 * Returns the positions of groups in the topics that they consume. A group that has never been there begins with the oldest record
 * (components/kafka.yaml). Takes the rights to describe the groups and to read the topics.
 * @param consumed the topics of each group
 */
export async function positionsOf(admin: Admin, consumed: ReadonlyMap<string, readonly string[]>): Promise<Position[]> {
  const groups = await admin.listConsumerGroupOffsets({ groups: [...consumed.keys()] })
  // The ends last: an event that was handled in between has an effect, which must count.
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
    oldest: unread[index]?.first?.timestamp,
  }))
}

async function offsetsAt(
  admin: Admin,
  asked: readonly Partition[],
  timestamp: bigint,
): Promise<ReadonlyMap<string, bigint>> {
  if (asked.length === 0) return new Map()
  const topics = [...Map.groupBy(asked, ({ topic }) => topic)].map(([name, partitions]) => ({
    name,
    partitions: partitions.map(({ partition: partitionIndex }) => ({ partitionIndex, timestamp })),
  }))
  const found = await admin.listOffsets({ topics })
  return new Map(
    found.flatMap(({ name: topic, partitions }) =>
      partitions.map(({ partitionIndex: partition, offset }) => [keyOf({ topic, partition }), offset]),
    ),
  )
}
