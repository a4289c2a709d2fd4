import { deadLetterTopic } from '@orderflow/envelope'
import { activeRunner } from '@orderflow/stack'
import { CliError, paint, timed } from '@orderflow/stack/base'
import { backUp, consumedTopics, copyError } from '@orderflow/stack/operate'
import type { Command } from '../../command-line.ts'
import { namedKafka, topicNames } from '../../near-kafka.ts'
import { backupPage, requireFolder } from '../backup-folder.ts'

const isDeadLetters = (name: string) => name.endsWith(deadLetterTopic(''))

/** Reads the Kafka that environment variables name, otherwise that of the running stack. */
export const command: Command = {
  parameters: 'DIR',
  async run({ args: [folder] }) {
    const to = requireFolder(folder, './orderflow backup ../backup')
    const tell = timed()
    if (!process.env.Stream__Brokers && (await activeRunner()).inside) {
      throw new CliError('usage', 'this machine cannot reach the Kafka of the cluster', {
        nextStep: `set Stream__Brokers and the other variables of ${backupPage} where Kafka can be reached`,
      })
    }
    const topics = Object.groupBy(topicNames, (name) => (isDeadLetters(name) ? 'deadLetters' : 'events'))
    const { events = [], deadLetters = [] } = topics
    const kafka = await namedKafka()
    await backUp(to, { kafka, events, deadLetters, groups: [...consumedTopics.keys()], tell }).catch(
      (error: unknown) => {
        throw copyError(error, { during: 'the backup', page: backupPage })
      },
    )
    tell(paint('green', `saved in ${to}`))
  },
}
