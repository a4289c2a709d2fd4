import { followLog } from '@orderflow/kafka-log'
import type { KafkaConnection } from '@orderflow/stack'
import { Producer } from '@platformatic/kafka'

/** A record as an outside consumer reads it, with headers as text. */
export interface LogRecord {
  topic: string
  partition: number
  offset: bigint
  key: string
  /** Empty for a tombstone. */
  value: Buffer
  headers: Record<string, string>
}

export interface OutsideRecord {
  topic: string
  key?: string
  value: string | Buffer | null
  headers?: Record<string, string>
}

/**
 * Creates a client that waits until all in-sync replicas have a record. By default, the Kafka library waits only for the leader.
 * @param kafka `retries` replaces the client's default of three retries
 */
export function createProducer(kafka: KafkaConnection & { retries?: number }) {
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({
    clientId: 'older-application',
    ...kafka,
  })
  return {
    async send(...records: OutsideRecord[]): Promise<void> {
      const messages = records.map(({ topic, key, value, headers = {} }) => ({
        topic,
        ...(key !== undefined && { key: Buffer.from(key) }),
        value: (value === null ? null : Buffer.from(value)) as Buffer,
        headers: new Map(Object.entries(headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)])),
      }))
      await producer.send({ messages, acks: -1 })
    },
    async sendCompressed({ topic, value }: { topic: string; value: string }): Promise<void> {
      await producer.send({ messages: [{ topic, value: Buffer.from(value) }], compression: 'gzip', acks: -1 })
    },
    close: () => producer.close(),
  }
}

/** Reads all records of `topics`, from the oldest record on, as they arrive. */
export async function openLog(kafka: KafkaConnection, topics: string[]) {
  const records: LogRecord[] = []
  const { caughtUp, close } = await followLog(
    kafka,
    { topics },
    ({ topic, partition, offset, key, value, headers }) => {
      const texts = Object.fromEntries(headers.map(([name, text]) => [name.toString(), text.toString()]))
      records.push({ topic, partition, offset, key: key?.toString() ?? '', value, headers: texts })
    },
  )
  return { records, caughtUp, close }
}
