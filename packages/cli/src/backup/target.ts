import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import { openLog } from '@orderflow/service-kit/operations'
import { settingsOf, type TopicSettings } from '@orderflow/service-kit/topic-settings'
import { changeTopics } from '../kafka/topic-settings.ts'
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
  await changeTopics(
    kafka,
    changesOf(topics, () => whileCopied),
  )
  try {
    await work()
  } catch (error) {
    // The error of `work` is more helpful than that of a Kafka which has ended. The next run restores the settings.
    await changeTopics(kafka, changesOf(topics, settingsOf)).catch(() => {})
    throw error
  }
  await changeTopics(kafka, changesOf(topics, settingsOf))
}

/** A setting that `settingsFor` lacks gets the broker's default. */
const changesOf = (topics: string[], settingsFor: (topic: string) => TopicSettings) =>
  new Map(
    topics.map((topic) => [
      topic,
      Object.fromEntries(Object.keys(whileCopied).map((name) => [name, settingsFor(topic)[name]])),
    ]),
  )
