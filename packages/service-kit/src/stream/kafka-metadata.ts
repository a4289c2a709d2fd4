import type { Admin, Broker } from '@platformatic/kafka'
import { answerOf, requestOf } from './kafka-request.ts'
import type { Place } from './place.ts'

/** A broker, with its number. */
export interface Leader extends Broker {
  nodeId: number
}

/** Topics and brokers as Kafka describes them. `errorCode` is 0 for what has no error. */
export interface Metadata {
  brokers: Leader[]
  controllerId: number
  topics: {
    name: string
    /** Missing on brokers before Kafka 2.8. */
    topicId?: string
    errorCode: number
    partitions: { partitionIndex: number; errorCode: number; leaderId: number; replicaNodes: number[] }[]
  }[]
}

/**
 * Returns the metadata of topics, or of all topics for null. An error of one topic or partition concerns that one alone: the client's own
 * `metadata` and `listTopics` fail for all of them (@platformatic/kafka 2.12.1).
 * @throws what the client throws if no broker answers
 */
export async function metadataOf(admin: Admin, topics: readonly string[] | null): Promise<Metadata> {
  return await requestOf<Metadata>(admin, 'Metadata', topics, false, false).catch(answerOf<Metadata>)
}

/** Returns the broker that leads a partition, and its topic's id. @throws {Error} if it has no leader */
export function leaderOf(
  { brokers, topics }: Metadata,
  { topic, partition }: Pick<Place, 'topic' | 'partition'>,
): { leader: Leader; topicId: string } {
  const { topicId = '', partitions = [] } = topics.find(({ name }) => name === topic) ?? {}
  const leaderId = partitions.find(({ partitionIndex }) => partitionIndex === partition)?.leaderId
  const leader = brokers.find(({ nodeId }) => nodeId === leaderId)
  if (!leader) throw new Error(`partition ${topic}/${partition} has no leader`)
  return { leader, topicId }
}
