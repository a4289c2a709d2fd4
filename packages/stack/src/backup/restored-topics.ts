import { type Extent, extentsOf, type KafkaConnection, withAdmin } from '@orderflow/kafka-log'
import { settingsOf } from '@orderflow/service-kit/log'
import { CliError } from '../base/error.ts'
import { eventually, withRetries } from '../base/run-tool.ts'
import { addPartitions, ensureTopics, type TopicSpec } from '../kafka/topics.ts'
import type { Content } from './folder.ts'

/** The topics of a backup in the Kafka that receives it. */
interface TopicPlan {
  specs: TopicSpec[]
  /** The empty topics that must be created again, because Kafka cannot remove partitions. */
  recreate: string[]
  /** The ends of existing partitions, by topic and partition. */
  ends: ReadonlyMap<string, ReadonlyMap<number, bigint>>
}

/**
 * Compares the topics of a backup with those of Kafka, and changes nothing. A topic gets the backup's number of partitions, because a record keeps its
 * partition, and a key its partition.
 * @throws {CliError} `usage` if a topic with records has another number of partitions
 */
export async function planTopics(kafka: KafkaConnection, { topics }: Content): Promise<TopicPlan> {
  const specs = Object.entries(topics).map(([name, { partitions }]) => ({
    ...{ name, partitions: partitions.length, consumerGroups: [], configs: settingsOf(name) },
  }))
  const extents = await extentsIn(kafka, specs)
  const ends = new Map(
    [...Map.groupBy(extents, ({ topic }) => topic)].map(([name, own]) => [
      name,
      new Map(own.map(({ partition, end }) => [partition, end])),
    ]),
  )
  const different = specs.filter(({ name, partitions }) => ends.has(name) && ends.get(name)?.size !== partitions)
  for (const { name, partitions } of different) {
    const own = ends.get(name) ?? new Map<number, bigint>()
    if ([...own.values()].every((end) => end === 0n)) continue
    throw new CliError('usage', `${name} has records and ${own.size} partitions, and ${partitions} in the backup`, {
      nextStep: 'restore into an empty Kafka: ./orderflow clean, or delete this topic of your own cluster',
    })
  }
  const recreate = different.filter(({ name, partitions }) => (ends.get(name)?.size ?? 0) > partitions)
  return { specs, recreate: recreate.map(({ name }) => name), ends }
}

/** Gives Kafka the planned topics. Existing topics keep their other settings. */
export async function makeTopics(kafka: KafkaConnection, { specs, recreate }: TopicPlan): Promise<void> {
  if (recreate.length > 0) {
    await withAdmin(kafka, async (admin) => {
      await admin.deleteTopics({ topics: recreate })
      const isGone = async () => (await admin.listTopics()).every((name) => !recreate.includes(name))
      await eventually(isGone, `Kafka to delete ${recreate}`)
    })
  }
  await ensureTopics(kafka, specs)
  await addPartitions(kafka, specs)
  await extentsIn(kafka, specs)
}

/** Returns the extents of the topics that exist. Repeats the request, because new partitions have no leader for a moment. */
const extentsIn = (kafka: KafkaConnection, specs: readonly TopicSpec[]): Promise<Extent[]> =>
  withRetries('Kafka', () =>
    withAdmin(kafka, async (admin) => {
      const all = new Set(await admin.listTopics())
      return await extentsOf(
        admin,
        specs.map(({ name }) => name).filter((name) => all.has(name)),
      )
    }),
  )
