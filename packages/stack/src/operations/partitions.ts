import { kafkaConnection } from '../kafka/connection.ts'
import { untilAllConsume } from '../kafka/readiness.ts'
import { addPartitions, topicDifferences } from '../kafka/topics.ts'
import { transactionsWarning } from '../kafka/transactions.ts'
import { isInside } from '../kubernetes/inside.ts'
import { requireRunning } from '../runners.ts'
import { namedTopics } from './named-kafka.ts'

/** Adds missing partitions to topics. In a running stack it waits until the services consume the new partitions. */
export async function addMissingPartitions(tell: (line: string) => void): Promise<void> {
  const { env } = process
  // In a pod of the cluster, the variables name the Kafka of the running stack.
  const isNamed = Boolean(env.Stream__Brokers) && !isInside(env)
  const kafka = isNamed ? kafkaConnection(env) : (await requireRunning()).kafka
  const specs = await namedTopics(isNamed ? env : {})
  const added = await addPartitions(kafka, specs)
  for (const line of added) tell(line)
  const warning = isNamed ? await transactionsWarning(kafka) : undefined
  for (const line of isNamed ? await topicDifferences(kafka, specs) : []) tell(`warning: ${line}`)
  if (warning) tell(`warning: ${warning}`)
  if (added.length === 0) return tell('every topic has the partitions of services.json')
  if (isNamed) return
  tell('waiting until the sidecars consume the new partitions')
  await untilAllConsume(kafka, tell)
}
