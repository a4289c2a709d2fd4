import '@orderflow/envelope/kafka-resets'
import { randomUUID } from 'node:crypto'
import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import { Consumer, stringDeserializers } from '@platformatic/kafka'
import { withAdmin } from './topics.ts'

/** The fields of an event for people. An invalid envelope may lack fields. */
export interface WatchedEvent {
  topic: string
  partition: number
  offset: bigint
  envelope: { Name?: string; AppName?: string; CorrelationId?: string; Payload?: object }
}

/**
 * @param before the number of older events of each partition to report, too
 * @returns a function that stops watching and removes the consumer group
 */
export async function watchEvents(
  kafka: KafkaConnection,
  topics: string[],
  onEvent: (event: WatchedEvent) => void,
  before = 0n,
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
  // Finds the ends of the topics before it calls `consume`. Mode `latest` would find the ends only after `consume` has returned. Events in between
  // would be missed.
  const ends = await consumer.listOffsets({ topics })
  const starts = await consumer.listOffsets({ topics, timestamp: -2n })
  const offsets = [...ends].flatMap(([topic, partitions]) =>
    partitions.map((end, partition) => {
      const start = starts.get(topic)?.[partition] ?? end
      return { topic, partition, offset: end - start > before ? end - before : start }
    }),
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

function parseEnvelope(value: string): WatchedEvent['envelope'] {
  try {
    return JSON.parse(value) ?? {}
  } catch {
    return {}
  }
}
