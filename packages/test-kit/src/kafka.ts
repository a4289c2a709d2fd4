import { randomUUID } from 'node:crypto'
import type { KafkaConnection } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { Consumer, FetchIsolationLevels, type Message, MessagesStreamModes, Producer } from '@platformatic/kafka'
import '@orderflow/envelope/kafka-resets'

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
  const consumer = new Consumer({ groupId: `test-${randomUUID()}`, clientId: 'test-log', ...kafka })
  const stream = await consumer.consume({
    topics,
    mode: MessagesStreamModes.EARLIEST,
    autocommit: false,
    maxWaitTime: 50,
    // Also reads records of aborted transactions, because sidecars read them.
    isolationLevel: FetchIsolationLevels.READ_UNCOMMITTED,
  })
  const records: LogRecord[] = []
  stream.on('data', (message: Message) => {
    const headers = Object.fromEntries([...message.headers].map(([name, value]) => [name.toString(), value.toString()]))
    const { topic, partition, offset } = message
    const value = message.value ?? Buffer.alloc(0)
    records.push({ topic, partition, offset, key: message.key?.toString() ?? '', value, headers })
  })
  /** Waits until all records from before this call have been read, and so have the markers at the ends of transactions. */
  async function caughtUp(): Promise<void> {
    const ends = [...(await consumer.listOffsets({ topics }))].flatMap(([topic, offsets]) =>
      offsets.map((end, partition) => ({ partition: `${topic}:${partition}`, end })),
    )
    const isRead = ({ partition, end }: (typeof ends)[number]) => (stream.offsetsToFetch.get(partition) ?? 0n) >= end
    await eventually(() => ends.every(isRead) && stream.readableLength === 0, `reading the log of ${topics.join(', ')}`)
  }
  return { records, caughtUp, close: () => consumer.close(true) }
}
