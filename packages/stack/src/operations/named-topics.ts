import { makeActive, makePassive } from '../backup/region.ts'
import { keepFor, keptFor } from '../kafka/retention.ts'
import { changeTopics } from '../kafka/topic-settings.ts'
import { namedKafka, namedTopics, topicNames } from './named-kafka.ts'

/** Sets the retention of all topics, if it is given. Returns the retention of each topic in milliseconds, or `forever`. */
export async function retention(keptMs: number | undefined): Promise<Map<string, number>> {
  const kafka = await namedKafka()
  if (keptMs !== undefined) await keepFor(kafka, topicNames, keptMs)
  return await keptFor(kafka, topicNames)
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
