import { randomUUID } from 'node:crypto'
import { extentsOf, openLog, positionsOf, withAdmin } from '@orderflow/kafka-log'
import type { KafkaConnection } from '@orderflow/stack'
import { ensureTopics } from '@orderflow/stack/internals'
import { topics } from '@orderflow/stack/operate'
import { Producer } from '@platformatic/kafka'

export interface OutsideEvent {
  key: string
  value: Buffer
}

/** A record, with the time at which the broker appended it, in milliseconds since 1970. */
export interface AppendedEvent extends OutsideEvent {
  at: number
}

export interface Stream {
  /** Publishes in batches, as an outside publisher does, and waits for each acknowledgement. */
  publish: (topic: string, events: Iterable<OutsideEvent>) => Promise<void>
  ends: (topic: string) => Promise<bigint[]>
  /** Returns the number of events that a group has not committed. Sidecars commit once a second. */
  lag: (topic: string, group: string) => Promise<number>
  /** Reads from the offsets of an earlier end, or from the beginning, to the present end. */
  records: (topic: string, from?: bigint[]) => Promise<AppendedEvent[]>
  keys: (topic: string, from?: bigint[]) => Promise<string[]>
  /** Deletes all records of a topic. */
  empty: (topic: string) => Promise<void>
  close: () => Promise<void>
}

/** Kafka’s max.message.bytes limits a batch, because all events of a batch may go to one partition. */
const maxBatchBytes = 192 * 1024
const maxBatchEvents = 500

export function openStream(kafka: KafkaConnection): Stream {
  const clientId = `orderflow-bench-${randomUUID()}`
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ clientId, ...kafka })

  const ends = async (topic: string) =>
    (await withAdmin(kafka, (admin) => extentsOf(admin, [topic]))).map(({ end }) => end)

  async function records(topic: string, from: bigint[] = []): Promise<AppendedEvent[]> {
    const log = openLog(kafka)
    try {
      const spans = (await ends(topic)).map((end, partition) => ({ partition, start: from[partition] ?? 0n, end }))
      const found: AppendedEvent[] = []
      for await (const chunk of log.read(topic, spans))
        for (const { key, value, appendedAt: at } of chunk) found.push({ key: key?.toString() ?? '', value, at })
      return found
    } finally {
      await log.close()
    }
  }

  return {
    async publish(topic, events) {
      for (const batch of batches(events)) {
        const messages = batch.map(({ key, value }) => ({ topic, key: Buffer.from(key), value }))
        await producer.send({ messages, acks: -1 })
      }
    },

    ends,

    async lag(topic, group) {
      const positions = await withAdmin(kafka, (admin) => positionsOf(admin, new Map([[group, [topic]]])))
      return positions.reduce((sum, { lag }) => sum + lag, 0)
    },

    records,
    keys: async (...range) => (await records(...range)).map(({ key }) => key),

    empty: (topic) =>
      withAdmin(kafka, async (admin) => {
        const partitions = (await extentsOf(admin, [topic])).map(({ partition, end: offset }) => ({
          partition,
          offset,
        }))
        await admin.deleteRecords({ topics: [{ name: topic, partitions }] })
      }),

    close: () => producer.close(),
  }
}

/**
 * Returns the number of records between two ends of a topic’s log. Only the benchmark writes to this topic, and without transactions, so
 * each offset is a record.
 */
export function distance(from: bigint[], to: bigint[]): number {
  return to.reduce((sum, end, partition) => sum + Number(end - (from[partition] ?? 0n)), 0)
}

export function* batches(events: Iterable<OutsideEvent>): Generator<OutsideEvent[]> {
  let batch: OutsideEvent[] = []
  let bytes = 0
  for (const event of events) {
    bytes += event.value.byteLength
    if (batch.length === maxBatchEvents || (batch.length > 0 && bytes > maxBatchBytes)) {
      yield batch
      batch = []
      bytes = event.value.byteLength
    }
    batch.push(event)
  }
  if (batch.length > 0) yield batch
}

/** Creates a topic with the partitions and limits of another topic. */
export async function copyTopic(kafka: KafkaConnection, original: string, name: string): Promise<void> {
  const specs = topics.processes.filter((topic) => topic.name === original)
  await ensureTopics(
    kafka,
    specs.map((spec) => ({ ...spec, name, consumerGroups: [] })),
  )
}
