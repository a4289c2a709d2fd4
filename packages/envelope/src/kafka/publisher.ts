import type { KafkaAddress } from './address.ts'
import { loadClient } from './client.ts'
import type { OutgoingRecord } from './record.ts'

/** The position of a published record. If several records were written to a partition, it is the position of the last one. */
export interface PublishedPosition {
  partition: number
  offset: bigint
}

export interface Publisher {
  /** Writes the records to all in-sync replicas. After an error, some records may have been written. */
  send(records: readonly OutgoingRecord[]): Promise<PublishedPosition[]>
  close(): Promise<void>
}

/**
 * Returns a plain Kafka client, which connects when it first sends.
 * @throws {ClientMissingError}
 */
export async function openPublisher(address: KafkaAddress, clientId: string): Promise<Publisher> {
  const { Producer } = await loadClient()
  // Without retries, the caller learns at once that a broker is unavailable, and can publish the same Id again.
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
