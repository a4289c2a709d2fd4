import { type KafkaConnection, withAdmin } from '@orderflow/kafka-log'
import { topicResource } from '@orderflow/service-kit/log'
import { changeTopics } from './topic-settings.ts'

/** A `retention.ms` without limit. */
export const forever = -1

export const dayMs = 24 * 60 * 60 * 1_000

/**
 * Sets the retention, and waits until all brokers report it. The broker deletes only whole segments. With segments of one day instead of one week, it
 * deletes events at most one day late.
 * @param keptMs milliseconds, or `forever`
 */
export async function keepFor(kafka: KafkaConnection, names: readonly string[], keptMs: number): Promise<void> {
  const segment = keptMs === forever ? undefined : String(dayMs)
  const settings = { 'retention.ms': String(keptMs), 'segment.ms': segment }
  await changeTopics(kafka, new Map(names.map((name) => [name, settings])))
}

/** Returns the retention of each topic in milliseconds, or `forever`. */
export async function keptFor(kafka: KafkaConnection, names: readonly string[]): Promise<Map<string, number>> {
  const resources = names.map((resourceName) => ({
    resourceType: topicResource,
    resourceName,
    configurationKeys: ['retention.ms'],
  }))
  const found = await withAdmin(kafka, (admin) => admin.describeConfigs({ resources }))
  return new Map(found.map(({ resourceName, configs }) => [resourceName, Number(configs[0]?.value)]))
}
