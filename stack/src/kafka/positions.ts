import type { Admin } from '@platformatic/kafka'

/** A partition of a topic. */
export interface Partition {
  topic: string
  partition: number
}

/** What a partition has: offsets of the first record that is still there, and of the next one to come. */
export interface Extent extends Partition {
  first: bigint
  end: bigint
}

/** Where a consumer group stands in a partition. */
export interface Position extends Partition {
  group: string
  /** The offset of the first record that it has not handled. */
  next: bigint
  /** How many it has still to handle. */
  lag: number
}

// Kafka's timestamps for the two ends of a partition.
const earliest = -2n
const latest = -1n

type Offsets = Map<string, { offset: bigint; timestamp: bigint }>

const keyOf = ({ topic, partition }: Partition) => `${topic}/${partition}`

/** How far topics go, by partition. Takes the right to describe them. */
export async function extentsOf(admin: Admin, topics: readonly string[]): Promise<Extent[]> {
  const { topics: found } = await admin.metadata({ topics: [...topics], forceUpdate: true })
  const partitions = [...found].flatMap(([topic, { partitionsCount }]) =>
    Array.from({ length: partitionsCount }, (_, partition) => ({ topic, partition })),
  )
  const at = (timestamp: bigint) =>
    offsetsAt(
      admin,
      partitions.map((each) => ({ ...each, timestamp })),
    )
  const [firsts, ends] = await Promise.all([at(earliest), at(latest)])
  return partitions.map((each) => ({
    ...each,
    first: firsts.get(keyOf(each))?.offset ?? 0n,
    end: ends.get(keyOf(each))?.offset ?? 0n,
  }))
}

/**
 * Where groups stand in what they consume. A group that has never been there begins with the oldest record (components/kafka.yaml). Takes
 * the right to describe the groups and topics.
 * @param consumed the topics of each group
 */
export async function positionsOf(
  admin: Admin,
  consumed: ReadonlyMap<string, readonly string[]>,
  extents: readonly Extent[],
): Promise<Position[]> {
  const groups = await admin.listConsumerGroupOffsets({ groups: [...consumed.keys()] })
  return [...consumed].flatMap(([group, topics]) => {
    const committed = groups.find(({ groupId }) => groupId === group)?.topics ?? []
    return extents
      .filter(({ topic }) => topics.includes(topic))
      .map(({ topic, partition, first, end }) => {
        const offsets = committed.find(({ name }) => name === topic)?.partitions
        const offset = offsets?.find(({ partitionIndex }) => partitionIndex === partition)?.committedOffset ?? first
        const next = offset < first ? first : offset
        return { group, topic, partition, next, lag: Math.max(0, Number(end - next)) }
      })
  })
}

/** How far back the first questions go: a second, ten seconds, and so on. */
const firstStepMs = 1_000
/** The age that is found is wrong by at most this part of it, or by so many milliseconds. */
const tolerance = 0.05
const toleranceMs = 20

interface Search extends Partition {
  offset: bigint
  /** The record came no earlier, and before the other. */
  from: number
  to: number
  isFound: boolean
}

/**
 * When records reached the log, in milliseconds since 1970, in the order of the places. Found by asking which offset each of several
 * moments has, which takes the right to describe a topic, and none to read it: a dozen questions for all places together.
 */
export async function arrivalsOf(
  admin: Admin,
  places: readonly (Partition & { offset: bigint })[],
  now: number,
): Promise<number[]> {
  const searches = places.map((place): Search => ({ ...place, from: 0, to: now + 1, isFound: false }))
  for (let stepMs = firstStepMs; ; stepMs *= 10) {
    const open = searches.filter((search) => !isClose(search, now))
    if (open.length === 0) return searches.map(({ from }) => from || now)
    const asked = open.map((search) => ({
      search,
      moment: search.from > 0 ? Math.ceil((search.from + search.to) / 2) : Math.max(1, now - stepMs),
    }))
    const byPartition = Map.groupBy(asked, ({ search }) => keyOf(search))
    // One question has each partition once; two groups may stand in one of them.
    for (let turn = 0; [...byPartition.values()].some((all) => all.length > turn); turn += 1) {
      const round = [...byPartition.values()].flatMap((all) => all[turn] ?? [])
      const answers = await offsetsAt(
        admin,
        round.map(({ search: { topic, partition }, moment }) => ({ topic, partition, timestamp: BigInt(moment) })),
      )
      for (const { search, moment } of round) narrow(search, moment, answers.get(keyOf(search)))
    }
  }
}

function isClose({ from, to, isFound }: Search, now: number): boolean {
  return isFound || (from > 0 && to - from <= Math.max(toleranceMs, tolerance * (now - from)))
}

/** @param first the first record that came at this moment or later; none has offset -1 */
function narrow(search: Search, moment: number, first: { offset: bigint; timestamp: bigint } | undefined): void {
  if (!first || first.offset < 0n || first.offset > search.offset) {
    search.to = moment
    // The record is gone meanwhile.
    if (moment <= 1) search.isFound = true
    return
  }
  search.from = Number(first.timestamp)
  search.isFound = first.offset === search.offset
}

async function offsetsAt(admin: Admin, asked: readonly (Partition & { timestamp: bigint })[]): Promise<Offsets> {
  if (asked.length === 0) return new Map()
  const topics = [...Map.groupBy(asked, ({ topic }) => topic)].map(([name, partitions]) => ({
    name,
    partitions: partitions.map(({ partition: partitionIndex, timestamp }) => ({ partitionIndex, timestamp })),
  }))
  const found = await admin.listOffsets({ topics })
  return new Map(
    found.flatMap(({ name: topic, partitions }) =>
      partitions.map(({ partitionIndex: partition, offset, timestamp }) => [
        keyOf({ topic, partition }),
        { offset, timestamp },
      ]),
    ),
  )
}
