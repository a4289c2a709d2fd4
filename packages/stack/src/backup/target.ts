import { type KafkaConnection, openLog } from '@orderflow/kafka-log'
import { settingsOf, type TopicSettings } from '@orderflow/service-kit/log'
import { type GroupLock, LockError, withGroupLock } from '@orderflow/service-kit/operations'
import { CliError } from '../base/error.ts'
import { changeKnown } from '../kafka/topic-settings.ts'
import type { TargetLog } from './copy.ts'

/**
 * Runs `work` while no other command copies records to this Kafka or changes the settings for copies, on whatever machine. Two copies would write each
 * record twice.
 * @throws {CliError} `busy`
 */
export async function withCopyLock<Result>(
  kafka: KafkaConnection,
  tell: (line: string) => void,
  work: (lock: GroupLock) => Promise<Result>,
): Promise<Result> {
  const holder = 'restore, move or change of the region'
  const onWait = () => tell(`waiting for another ${holder}, which uses this Kafka or was killed`)
  try {
    return await withGroupLock(kafka, { group: 'orderflow-copy', holder, onWait }, work)
  } catch (error) {
    if (!(error instanceof LockError)) throw error
    throw new CliError('busy', error.message, { nextStep: error.nextStep, cause: error })
  }
}

/**
 * Opens the log that receives copies. Loads the client on demand, because that takes half a second.
 * @param lock the lock that this process holds while it writes
 */
export async function openTarget(
  kafka: KafkaConnection,
  lock: GroupLock,
): Promise<TargetLog & { close(): Promise<void> }> {
  const { Producer } = await import('@platformatic/kafka')
  const log = openLog(kafka)
  // The client does not retry, because a retry could write a batch twice. The next run continues after the last written record.
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ clientId: 'orderflow-copy', ...kafka, retries: 0 })
  return {
    spans: log.spans,
    at: log.at,
    async append(topic, partition, records, offset) {
      await lock.requireHeld()
      const messages = records.map(({ key, value, headers, timestamp }) => ({
        ...{ topic, partition, value, timestamp: BigInt(timestamp), headers: new Map(headers) },
        ...(key !== undefined && { key }),
      }))
      const { offsets } = await producer.send({ messages, acks: -1 })
      const written = offsets?.[0]?.offset
      if (written === offset) return
      throw new CliError(
        'usage',
        `another program also writes to ${topic}/${partition}: ${written} instead of ${offset}`,
        {
          nextStep:
            'stop it, remove all records of the new log (./orderflow clean, or delete its topics), and begin again',
        },
      )
    },
    async close() {
      await Promise.all([log.close(), producer.close()])
    },
  }
}

/** The largest value of a setting in milliseconds. */
const longest = '9223372036854775807'

/**
 * The settings of topics while records are copied: records keep their times, whatever the clock. Kafka 4 refuses times that are an hour ahead, but a
 * broker whose clock was ahead has written such times.
 */
export const whileCopied: TopicSettings = {
  'message.timestamp.type': 'CreateTime',
  'message.timestamp.before.max.ms': longest,
  'message.timestamp.after.max.ms': longest,
}

/** The smallest `max.message.bytes` of a copy. Copies may be larger than their originals. */
const leastBytes = 2 * 1024 * 1024

/** An upper bound of the bytes of a batch without its records. */
const batchBytes = 1024

/**
 * Runs `work` while the topics have the settings of a copy, and then restores the settings that the system requires.
 * @param largest the bytes of the largest record
 */
export async function withCopySettings(
  kafka: KafkaConnection,
  { topics, largest = 0 }: { topics: string[]; largest?: number },
  work: () => Promise<void>,
): Promise<void> {
  const wanted = { ...whileCopied, 'max.message.bytes': String(Math.max(leastBytes, largest + batchBytes)) }
  const change = (settingsFor: (topic: string) => TopicSettings) =>
    changeKnown(kafka, topics, Object.keys(wanted), settingsFor)
  await change(() => wanted)
  try {
    await work()
  } catch (error) {
    // The error of `work` is more helpful than that of a Kafka which has ended. The next run restores the settings.
    await change(settingsOf).catch(() => {})
    throw error
  }
  await change(settingsOf)
}
