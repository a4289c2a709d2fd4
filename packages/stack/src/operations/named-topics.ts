import { makeActive, makePassive } from '../backup/region.ts'
import { kafkaConnection } from '../kafka/connection.ts'
import { untilAllConsume } from '../kafka/readiness.ts'
import { keepFor, keptFor, requireDeadlinesKept } from '../kafka/retention.ts'
import { changeTopics } from '../kafka/topic-settings.ts'
import { addPartitions, eventTopics, topicDifferences } from '../kafka/topics.ts'
import { transactionsWarning } from '../kafka/transactions.ts'
import { isInside } from '../kubernetes/inside.ts'
import { requireRunning } from '../runners.ts'
import { namedKafka, namedTopics } from './named-kafka.ts'

/**
 * Sets the retention of all topics with events, if it is given. Returns the retention of each topic in milliseconds, or `forever`.
 * @throws {CliError} `usage` if Kafka would delete the events of an entity before its deadline
 */
export async function retention(keptMs: number | undefined): Promise<Map<string, number>> {
  const kafka = await namedKafka()
  if (keptMs !== undefined) {
    await requireDeadlinesKept(kafka, keptMs)
    await keepFor(kafka, eventTopics, keptMs)
  }
  return await keptFor(kafka, eventTopics)
}

export async function changeTopic(topic: string, setting: string, value: string): Promise<void> {
  await changeTopics(await namedKafka(), new Map([[topic, { [setting]: value }]]))
}

/**
 * Lets MirrorMaker copy to this Kafka (passive), or lets services use the copy (active). Returns lines for the user.
 * @param againMs active: services handle the events of this time again
 */
export async function changeRegion(role: 'passive' | 'active', againMs: number): Promise<string[]> {
  const [kafka, specs] = [await namedKafka(), await namedTopics()]
  if (role === 'active') return await makeActive(kafka, specs, againMs)
  return (await makePassive(kafka, specs)).map((line) => `warning: ${line}`)
}

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
