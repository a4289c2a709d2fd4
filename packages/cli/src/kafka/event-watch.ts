import { randomUUID } from 'node:crypto'
import { Consumer, stringDeserializers } from '@platformatic/kafka'
import '@orderflow/envelope/kafka-resets'
import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import { withAdmin } from './topics.ts'

/** What we read of an event; a record that is no envelope has none of it. */
export interface SeenEvent {
  topic: string
  partition: number
  offset: bigint
  envelope: { Name?: string; AppName?: string; CorrelationId?: string; Payload?: object }
}

/**
 * Shows every event published from now on, as a plain Kafka client in a consumer group of its own.
 * @returns a function that stops watching and removes the group
 */
export async function watchEvents(
  kafka: KafkaConnection,
  topics: string[],
  onEvent: (event: SeenEvent) => void,
): Promise<() => Promise<void>> {
  const groupId = `orderflow-demo-${randomUUID()}`
  const consumer = new Consumer({
    clientId: groupId,
    groupId,
    ...kafka,
    deserializers: stringDeserializers,
    autocommit: false,
    maxWaitTime: 100,
    sessionTimeout: 6_000,
    heartbeatInterval: 1_000,
  })
  // Mode `latest` looks for the end of the topics after it has returned, and misses what is published meanwhile.
  const ends = await consumer.listOffsets({ topics })
  const offsets = [...ends].flatMap(([topic, partitions]) =>
    partitions.map((offset, partition) => ({ topic, partition, offset })),
  )
  const stream = await consumer.consume({ topics, mode: 'manual', offsets })
  stream.on('data', ({ topic, partition, offset, value }) => {
    onEvent({ topic, partition, offset, envelope: parseEnvelope(value) })
  })
  return async () => {
    await consumer.close(true)
    await withAdmin(kafka, (admin) => admin.deleteGroups({ groups: [groupId] })).catch(() => {})
  }
}

function parseEnvelope(value: string): SeenEvent['envelope'] {
  try {
    return JSON.parse(value) ?? {}
  } catch {
    return {}
  }
}
