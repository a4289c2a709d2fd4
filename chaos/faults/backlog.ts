import { setTimeout as delay } from 'node:timers/promises'
import { type KafkaConnection, partitionCounts, topics, withAdmin } from '@orderflow/stack'

export interface Backlog {
  /** Records that some application has still to handle, each counted once per application. */
  behind: number
  /** Where everything stands: the same text while nothing moves. */
  positions: string
}

const consumed = topics.processes.filter(({ consumerGroups }) => consumerGroups.length > 0)
const groups = [...new Set(consumed.flatMap(({ consumerGroups }) => consumerGroups))]
/** Kafka's timestamp for the end of a partition. */
const latest = -1n

/** How far the applications are behind the log. */
export async function readBacklog(kafka: KafkaConnection): Promise<Backlog> {
  return await withAdmin(kafka, async (admin) => {
    const counts = await partitionCounts(
      admin,
      consumed.map(({ name }) => name),
    )
    const partitionsOf = (name: string) => Array.from({ length: counts.get(name) ?? 0 }, (_, partition) => partition)
    // The ends last: what was handled meanwhile must not count twice.
    const committed = new Map<string, bigint>()
    for (const group of await admin.listConsumerGroupOffsets({ groups })) {
      for (const { name, partitions } of group.topics) {
        for (const { partitionIndex, committedOffset } of partitions) {
          committed.set(`${group.groupId} ${name} ${partitionIndex}`, committedOffset)
        }
      }
    }
    const asked = consumed.map(({ name }) => ({
      name,
      partitions: partitionsOf(name).map((partitionIndex) => ({ partitionIndex, timestamp: latest })),
    }))
    const ends = new Map<string, bigint>()
    for (const { name, partitions } of await admin.listOffsets({ topics: asked })) {
      for (const { partitionIndex, offset } of partitions) ends.set(`${name} ${partitionIndex}`, offset)
    }
    const gaps = consumed.flatMap(({ name, consumerGroups }) =>
      consumerGroups.flatMap((group) =>
        partitionsOf(name).map((partition) => {
          const end = ends.get(`${name} ${partition}`) ?? 0n
          const done = committed.get(`${group} ${name} ${partition}`) ?? 0n
          return Number(end - (done < 0n ? 0n : done))
        }),
      ),
    )
    const positions = [...ends, ...committed].map(([place, offset]) => `${place}:${offset}`).join()
    return { behind: gaps.reduce((sum, gap) => sum + gap, 0), positions }
  })
}

const periodMs = 1_000
/** Nothing is behind and nothing has moved for so long: it is over. */
const quietMs = 4_000
/** Something is behind and nothing has moved for so long: it is stuck. */
const stuckMs = 90_000

/** Waits until nothing moves any more, however long that takes. Answers how many records are behind even so. */
export async function settle(kafka: KafkaConnection, onProgress: (line: string) => void): Promise<number> {
  let last: Backlog = { behind: Number.NaN, positions: '' }
  let movedAt = Date.now()
  let toldAt = Date.now()
  for (;;) {
    const now = await readBacklog(kafka).catch(() => last)
    if (now.positions !== last.positions) movedAt = Date.now()
    last = now
    const stillFor = Date.now() - movedAt
    if (stillFor > (last.behind === 0 ? quietMs : stuckMs)) return last.behind
    if (Date.now() - toldAt > 10_000) {
      onProgress(`waiting until nothing moves: ${last.behind} records are behind`)
      toldAt = Date.now()
    }
    await delay(periodMs)
  }
}
