import type { KafkaConnection } from '@orderflow/kafka-log'
import { kafkaConnection } from '../kafka/connection.ts'
import { type TopicSpec, topics } from '../kafka/topics.ts'
import { activeRunner, requireKafka } from '../runners.ts'

/** The guide that failures of a backup name. */
export const backupPage = 'docs/operations.md#backup'

/** All topics of the application. */
export const topicNames: readonly string[] = topics.containers.map(({ name }) => name)

/** Returns the Kafka that environment variables name, otherwise that of the running stack. */
export async function namedKafka(env: NodeJS.ProcessEnv = process.env): Promise<KafkaConnection> {
  return env.Stream__Brokers ? kafkaConnection(env) : (await requireKafka()).kafka
}

/** Returns the topics that this Kafka must have. */
export async function namedTopics(env: NodeJS.ProcessEnv = process.env): Promise<TopicSpec[]> {
  return topics[env.Stream__Brokers ? 'containers' : (await activeRunner()).surroundings]
}
