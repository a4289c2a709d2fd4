import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import { openLog } from '@orderflow/service-kit/operations'
import { settingsOf, type TopicSettings } from '@orderflow/service-kit/topic-settings'
import { withAdmin } from '../kafka/topics.ts'
import { eventually } from '../lib/poll.ts'
import type { TargetLog } from './copy.ts'

/** Opens the log that receives copies. Loads the client on demand, because that takes half a second. */
export async function openTarget(kafka: KafkaConnection): Promise<TargetLog & { close(): Promise<void> }> {
  const { Producer } = await import('@platformatic/kafka')
  const log = openLog(kafka)
  // The client does not retry, because a retry could write a batch twice. The next run continues after the last written record.
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ clientId: 'orderflow-copy', ...kafka, retries: 0 })
  return {
    spans: log.spans,
    at: log.at,
    async append(topic, partition, records) {
      const messages = records.map(({ key, value, headers, timestamp }) => ({
        ...{ topic, partition, value, timestamp: BigInt(timestamp), headers: new Map(headers) },
        ...(key !== undefined && { key }),
      }))
      await producer.send({ messages, acks: -1 })
    },
    async close() {
      await Promise.all([log.close(), producer.close()])
    },
  }
}

/** The settings of topics while records are copied: records keep their times, and may grow. */
const whileCopied: TopicSettings = { 'message.timestamp.type': 'CreateTime', 'max.message.bytes': '2097152' }

/** Runs `work` while the topics have the settings of a copy, and then restores the settings that the system requires. */
export async function withCopySettings(
  kafka: KafkaConnection,
  topics: string[],
  work: () => Promise<void>,
): Promise<void> {
  await setTopics(kafka, topics, () => whileCopied)
  try {
    await work()
  } catch (error) {
    // The error of `work` is more helpful than that of a Kafka which has ended. The next run restores the settings.
    await setTopics(kafka, topics, settingsOf).catch(() => {})
    throw error
  }
  await setTopics(kafka, topics, settingsOf)
}

const topicResource = 2 as const
const [set, remove] = [0, 1] as const

/** Sets the settings that differ while records are copied. A setting that `settingsFor` lacks gets the broker's default. */
async function setTopics(
  kafka: KafkaConnection,
  topics: string[],
  settingsFor: (topic: string) => TopicSettings,
): Promise<void> {
  const wanted = topics.flatMap((topic) =>
    Object.keys(whileCopied).map((name) => ({ topic, name, value: settingsFor(topic)[name] })),
  )
  const resources = [...Map.groupBy(wanted, ({ topic }) => topic)].map(([resourceName, own]) => ({
    resourceType: topicResource,
    resourceName,
    configs: own.map(({ name, value }) =>
      value === undefined ? { name, configOperation: remove } : { name, value, configOperation: set },
    ),
  }))
  await withAdmin(kafka, async (admin) => {
    await admin.incrementalAlterConfigs({ resources })
    const isSet = async () => {
      const asked = topics.map((resourceName) => ({
        ...{ resourceType: topicResource, resourceName, configurationKeys: Object.keys(whileCopied) },
      }))
      const found = await admin.describeConfigs({ resources: asked })
      return wanted.every(({ topic, name, value }) => {
        const actual = found.find(({ resourceName }) => resourceName === topic)?.configs
        return value === undefined || actual?.find((config) => config.name === name)?.value === value
      })
    }
    await eventually(isSet, 'the brokers to report the settings of the topics')
  })
}
