import { type KafkaConnection, withAdmin } from '@orderflow/kafka-log'
import { topicResource } from '@orderflow/service-kit/log'
import { eventually } from '../base/run-tool.ts'

/** The settings of a topic to change. The value undefined restores the default of the broker. */
export type SettingChanges = Readonly<Record<string, string | undefined>>

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

/**
 * Changes settings of topics. Leaves out settings that the brokers do not know. Kafka limits the times of records since version 3.6.
 * @param settingsFor a setting that it lacks gets the brokers' default
 */
export async function changeKnown(
  kafka: KafkaConnection,
  topics: readonly string[],
  names: readonly string[],
  settingsFor: (topic: string) => SettingChanges,
): Promise<void> {
  const [first] = topics
  if (first === undefined) return
  const resources = [{ resourceType: topicResource, resourceName: first, configurationKeys: [...names] }]
  const [found] = await withAdmin(kafka, (admin) => admin.describeConfigs({ resources }))
  const known = names.filter((name) => found?.configs.some((config) => config.name === name))
  const wanted = (topic: string) => Object.fromEntries(known.map((name) => [name, settingsFor(topic)[name]]))
  await changeTopics(kafka, new Map(topics.map((topic) => [topic, wanted(topic)])))
}
