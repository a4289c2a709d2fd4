import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import { eventually } from '../lib/poll.ts'
import { withAdmin } from './topics.ts'

/** Days that events are kept, or `forever`. */
export type Retention = number | 'forever'

const dayMs = 24 * 60 * 60 * 1_000
/** Kafka's number of a topic among the resources that have settings. */
const topicResource = 2 as const
const [set, remove] = [0, 1] as const

/**
 * Has Kafka keep what is in these topics for some time and no longer. A broker forgets whole segments, the newest of which grows for a
 * week by default; so they begin anew each day, and an event is gone a day after its time at the latest, and five minutes until the broker looks.
 * Returns when the brokers do as they are told.
 */
export async function keepFor(kafka: KafkaConnection, names: string[], kept: Retention): Promise<void> {
  const keptMs = kept === 'forever' ? -1 : kept * dayMs
  const segment =
    kept === 'forever'
      ? { name: 'segment.ms', configOperation: remove }
      : { name: 'segment.ms', configOperation: set, value: String(dayMs) }
  const configs = [{ name: 'retention.ms', configOperation: set, value: String(keptMs) }, segment]
  const resources = names.map((resourceName) => ({ resourceType: topicResource, resourceName, configs }))
  await withAdmin(kafka, (admin) => admin.incrementalAlterConfigs({ resources }))
  const areTold = async () => [...(await keptFor(kafka, names)).values()].every((ms) => ms === keptMs)
  await eventually(areTold, 'the brokers keep what they are told to')
}

/** For how long Kafka keeps what is in each of these topics, in milliseconds: -1 is for ever. */
export async function keptFor(kafka: KafkaConnection, names: string[]): Promise<Map<string, number>> {
  const resources = names.map((resourceName) => ({
    resourceType: topicResource,
    resourceName,
    configurationKeys: ['retention.ms'],
  }))
  const found = await withAdmin(kafka, (admin) => admin.describeConfigs({ resources }))
  return new Map(found.map(({ resourceName, configs }) => [resourceName, Number(configs[0]?.value)]))
}

/** A time as `keptFor` says it, in words. */
export function retentionText(ms: number): string {
  return ms < 0 ? 'for ever' : `for ${Number((ms / dayMs).toPrecision(3))} days`
}
