import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Producer } from '@platformatic/kafka'
import { targets, topic } from '../system.ts'
import { succeed } from './make.ts'

export interface Outgoing {
  key?: string | Buffer
  value: string | Buffer | null
  partition?: number
}

/** An application outside: a plain Kafka client with the settings that the README's command prints for it. */
export interface Publisher {
  /** Publishes in order, and returns the position of each record: `topic/partition/offset`. */
  publish(...records: Outgoing[]): Promise<string[]>
  close(): Promise<void>
}

export async function openPublisher(): Promise<Publisher> {
  const name = `acceptance-${randomUUID().slice(0, 8)}`
  const told = await succeed(targets.publisher(name))
  const setting = (wanted: string) => new RegExp(`^${wanted.replaceAll('.', '\\.')} +(\\S+)$`, 'm').exec(told)?.[1]
  // Without users the command only says where Kafka is.
  const brokers = setting('bootstrap.servers') ?? /Kafka at (\S+) /.exec(told)?.[1]
  if (!brokers) throw new Error(`make ${targets.publisher(name).join(' ')} names no broker:\n${told}`)
  const [username, password] = [setting('sasl.username'), setting('sasl.password')]
  const secured = username &&
    password && {
      sasl: { mechanism: 'SCRAM-SHA-512' as const, username, password },
      tls: { ca: readFileSync(setting('ssl.ca.location') as string) },
    }
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({
    clientId: name,
    bootstrapBrokers: brokers.split(','),
    ...(secured || {}),
  })
  return {
    async publish(...records) {
      const positions: string[] = []
      for (const { key, value, partition } of records) {
        const message = {
          topic,
          ...(partition !== undefined && { partition }),
          ...(key !== undefined && { key: Buffer.from(key) }),
          value: (value === null ? null : Buffer.from(value)) as Buffer,
        }
        const { offsets = [] } = await producer.send({ messages: [message], acks: -1 })
        positions.push(`${topic}/${offsets[0]?.partition}/${offsets[0]?.offset}`)
      }
      return positions
    },
    async close() {
      await producer.close()
      if (secured) await succeed(targets.removePublisher(name))
    },
  }
}
