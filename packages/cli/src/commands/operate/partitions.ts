import { activeRunner, isInside, requireRunning } from '@orderflow/stack'
import { timed } from '@orderflow/stack/base'
import {
  addPartitions,
  kafkaConnection,
  topicDifferences,
  topics,
  transactionsWarning,
  untilAllConsume,
} from '@orderflow/stack/operate'
import type { Command } from '../../command-line.ts'
import { nearNamedKafka } from '../../near-kafka.ts'

/** In a running stack it waits until the services consume the new partitions. */
export const command: Command = { run: nearNamedKafka(partitions, () => ({ args: ['partitions'] })) }

async function partitions(): Promise<void> {
  const tell = timed()
  const { env } = process
  // In a pod of the cluster, the variables name the Kafka of the running stack.
  const isNamed = Boolean(env.Stream__Brokers) && !isInside(env)
  const kafka = isNamed ? kafkaConnection(env) : (await requireRunning()).kafka
  const surroundings = isNamed ? 'containers' : (await activeRunner()).surroundings
  const added = await addPartitions(kafka, topics[surroundings])
  for (const line of added) tell(line)
  const warning = isNamed ? await transactionsWarning(kafka) : undefined
  for (const line of isNamed ? await topicDifferences(kafka, topics[surroundings]) : []) tell(`warning: ${line}`)
  if (warning) tell(`warning: ${warning}`)
  if (added.length === 0) return tell('every topic has the partitions of services.json')
  if (isNamed) return
  tell('waiting until the sidecars consume the new partitions')
  await untilAllConsume(kafka, tell)
}
