import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import { eventually } from '../lib/poll.ts'
import { withAdmin } from './topics.ts'

/** A `retention.ms` without limit. */
export const forever = -1

export const dayMs = 24 * 60 * 60 * 1_000

const topicResource = 2 as const
const [set, remove] = [0, 1] as const

/**
 * Sets the retention, and waits until all brokers report it. The broker deletes only whole segments. With segments of one day instead of one week, it
 * deletes events at most one day late.
 * @param keptMs milliseconds, or `forever`
 */
export async function keepFor(kafka: KafkaConnection, names: string[], keptMs: number): Promise<void> {
  const segment =
    keptMs === forever
      ? { name: 'segment.ms', configOperation: remove }
      : { name: 'segment.ms', configOperation: set, value: String(dayMs) }
  const configs = [{ name: 'retention.ms', configOperation: set, value: String(keptMs) }, segment]
  const resources = names.map((resourceName) => ({ resourceType: topicResource, resourceName, configs }))
  await withAdmin(kafka, (admin) => admin.incrementalAlterConfigs({ resources }))
  const isSet = async () => [...(await keptFor(kafka, names)).values()].every((ms) => ms === keptMs)
  await eventually(isSet, 'the brokers to report the new retention')
}

/** Returns the retention of each topic in milliseconds, or `forever`. */
export async function keptFor(kafka: KafkaConnection, names: string[]): Promise<Map<string, number>> {
  const resources = names.map((resourceName) => ({
    resourceType: topicResource,
    resourceName,
    configurationKeys: ['retention.ms'],
  }))
  const found = await withAdmin(kafka, (admin) => admin.describeConfigs({ resources }))
  return new Map(found.map(({ resourceName, configs }) => [resourceName, Number(configs[0]?.value)]))
}
