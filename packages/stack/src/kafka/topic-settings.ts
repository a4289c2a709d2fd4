import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import { topicResource } from '@orderflow/service-kit/topic-settings'
import { eventually } from '../base/run-tool.ts'
import { withAdmin } from './topics.ts'

/** The settings of a topic to change. The value undefined restores the default of the broker. */
export type SettingChanges = Readonly<Record<string, string | undefined>>

/** The largest value of a setting in milliseconds. */
export const longest = '9223372036854775807'

const [set, remove] = [0, 1] as const

/** Changes settings of topics, and waits until the brokers report them. */
export async function changeTopics(
  kafka: KafkaConnection,
  changes: ReadonlyMap<string, SettingChanges>,
): Promise<void> {
  const resources = [...changes].map(([resourceName, settings]) => ({
    resourceType: topicResource,
    resourceName,
    configs: Object.entries(settings).map(([name, value]) =>
      value === undefined ? { name, configOperation: remove } : { name, value, configOperation: set },
    ),
  }))
  await withAdmin(kafka, async (admin) => {
    await admin.incrementalAlterConfigs({ resources })
    const isSet = async () => {
      const asked = [...changes].map(([resourceName, settings]) => ({
        ...{ resourceType: topicResource, resourceName, configurationKeys: Object.keys(settings) },
      }))
      const found = await admin.describeConfigs({ resources: asked })
      return [...changes].every(([topic, settings]) => {
        const actual = found.find(({ resourceName }) => resourceName === topic)?.configs
        return Object.entries(settings).every(
          ([name, value]) => value === undefined || actual?.find((config) => config.name === name)?.value === value,
        )
      })
    }
    await eventually(isSet, 'the brokers to report the settings of the topics')
  })
}

/** Returns the names of the settings that the brokers know. Brokers before Kafka 3.6 do not limit the times of records. */
export async function knownSettings(
  kafka: KafkaConnection,
  [topic]: readonly string[],
  names: readonly string[],
): Promise<string[]> {
  if (topic === undefined) return []
  const resources = [{ resourceType: topicResource, resourceName: topic, configurationKeys: [...names] }]
  const [found] = await withAdmin(kafka, (admin) => admin.describeConfigs({ resources }))
  return names.filter((name) => found?.configs.some((config) => config.name === name))
}
