import { CliError, print } from '@orderflow/stack/base'
import { changeTopic, topicNames } from '@orderflow/stack/operate'
import type { Command } from '../../command-line.ts'
import { nearNamedKafka } from '../../near-kafka.ts'

export const command: Command = {
  parameters: 'TOPIC NAME=VALUE',
  run: nearNamedKafka('topic-setting', async ({ args: [topic, setting] }) => {
    const [, name, value] = /^([a-z.]+)=(.+)$/.exec(setting ?? '') ?? []
    if (topic === undefined || !topicNames.includes(topic) || name === undefined || value === undefined) {
      throw new CliError('usage', 'the topic is unknown, or the setting is not NAME=VALUE', {
        nextStep: `./orderflow topic-setting ${topicNames[0] ?? 'TOPIC'} cleanup.policy=delete; the topics are ${topicNames.join(', ')}`,
      })
    }
    await changeTopic(topic, name, value)
    print(`${topic}: ${name} is ${value}`)
  }),
}
