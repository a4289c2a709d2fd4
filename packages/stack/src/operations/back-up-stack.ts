import { deadLetterTopic } from '@orderflow/envelope'
import { backUp } from '../backup/backup.ts'
import { copyError } from '../backup/errors.ts'
import { CliError } from '../base/error.ts'
import { consumedTopics } from '../kafka/topics.ts'
import { activeRunner } from '../runners.ts'
import { backupPage, namedKafka, topicNames } from './named-kafka.ts'

const isDeadLetters = (name: string) => name.endsWith(deadLetterTopic(''))

/**
 * Saves the log of the Kafka that environment variables name, otherwise that of the running stack.
 * @throws {CliError} `usage` if this machine cannot reach the Kafka of a cluster
 */
export async function backUpLog(folder: string, tell: (line: string) => void): Promise<void> {
  if (!process.env.Stream__Brokers && (await activeRunner()).inside) {
    throw new CliError('usage', 'this machine cannot reach the Kafka of the cluster', {
      nextStep: `set Stream__Brokers and the other variables of ${backupPage} where Kafka can be reached`,
    })
  }
  const topics = Object.groupBy(topicNames, (name) => (isDeadLetters(name) ? 'deadLetters' : 'events'))
  const { events = [], deadLetters = [] } = topics
  const kafka = await namedKafka()
  await backUp(folder, { kafka, events, deadLetters, groups: [...consumedTopics.keys()], tell }).catch(
    (error: unknown) => {
      throw copyError(error, { during: 'the backup', page: backupPage })
    },
  )
}
