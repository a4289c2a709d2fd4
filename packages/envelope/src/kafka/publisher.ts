import type { KafkaAddress } from './address.ts'
import { loadClient } from './client.ts'
import type { OutgoingRecord } from './record.ts'

/** Position of a record, or of the last of several records of a partition. */
export interface PublishedPosition {
  partition: number
  offset: bigint
}

export interface Publisher {
  /** Writes the records, in order within a partition, to all replicas in sync. When it throws, any of them may be written. */
  send(records: readonly OutgoingRecord[]): Promise<PublishedPosition[]>
  close(): Promise<void>
}

/**
 * A plain Kafka client, as any application outside has one; it connects when it sends.
 * @throws {ClientMissingError}
 */
export async function openPublisher(address: KafkaAddress, clientId: string): Promise<Publisher> {
  const { Producer } = await loadClient()
  // No retries: a broker that is away is told at once, and whoever publishes again publishes the same Id.
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ clientId, ...address, retries: 0 })
  return {
    async send(records) {
      const messages = records.map(({ topic, key, value, headers = {} }) => ({
        topic,
        value: Buffer.from(value.buffer, value.byteOffset, value.byteLength),
        headers: new Map(Object.entries(headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)])),
        ...(key !== undefined && { key: Buffer.from(key) }),
      }))
      const { offsets = [] } = await producer.send({ messages, acks: -1 })
      return offsets.map(({ partition, offset }) => ({ partition, offset }))
    },
    close: () => producer.close(),
  }
}
