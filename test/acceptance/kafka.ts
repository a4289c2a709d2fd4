import { subscribe } from 'node:diagnostics_channel'
import type { EventEmitter } from 'node:events'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Producer } from '@platformatic/kafka'
import { checkout, make } from './make.ts'
import { readStack } from './running-stack.ts'
import { brokers, commands, type Position, topics } from './system.ts'

export interface OutgoingRecord {
  value: string | Buffer | null
  key?: string | Buffer
  partition?: number
}

/** A plain Kafka client, as an outside publisher uses it. */
export interface Publisher {
  /** Returns the positions in the order of the records. */
  send(...records: OutgoingRecord[]): Promise<Position[]>
  close(): Promise<void>
}

const user = 'acceptance'
let settings: Promise<object> | undefined

// If a connection is reset during login, this client reports the error twice. Without a listener, the second report would end the process.
subscribe('plt:kafka:instances', (message) => {
  const { type, instance } = message as { type: string; instance: EventEmitter }
  if (type === 'connection') instance.on('error', () => {})
})

export async function openPublisher(): Promise<Publisher> {
  settings ??= readSettings()
  const options = { clientId: user, bootstrapBrokers: brokers, retries: 0, timeout: 5000, ...(await settings) }
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ ...options, acks: -1 })
  return {
    async send(...records) {
      const positions: Position[] = []
      for (const { key, value, partition } of records) {
        const message = {
          topic: topics.orders,
          value: (value === null ? null : Buffer.from(value)) as Buffer,
          ...(key !== undefined && { key: Buffer.from(key) }),
          ...(partition !== undefined && { partition }),
        }
        const { offsets = [] } = await producer.send({ messages: [message] })
        for (const { topic, partition, offset } of offsets) positions.push({ topic, partition, offset: String(offset) })
      }
      return positions
    },
    close: () => producer.close(),
  }
}

export async function publish(...records: OutgoingRecord[]): Promise<Position[]> {
  const publisher = await openPublisher()
  try {
    return await publisher.send(...records)
  } finally {
    await publisher.close()
  }
}

/** Returns the connection settings that a command prints for a user. Only Kafka in containers requires a user. */
async function readSettings(): Promise<object> {
  const { runner } = await readStack()
  if (runner === 'processes') return {}
  const exists = (await make(commands.publishers)).split('\n').includes(user)
  const output = await make(exists ? commands.newPassword(user) : commands.publisher(user))
  const value = (name: string) => {
    const [, found] = new RegExp(`^${name.replaceAll('.', '\\.')}\\s+(\\S+)$`, 'm').exec(output) ?? []
    if (found === undefined) throw new Error(`no ${name} in:\n${output}`)
    return found
  }
  after(() => make(commands.removePublisher(user)))
  return {
    // In Kubernetes, this command prints the address and the certificate for pods.
    ...(runner !== 'pods' && { bootstrapBrokers: value('bootstrap.servers').split(',') }),
    tls: { ca: certificateIn(output) ?? readFileSync(resolve(checkout, value('ssl.ca.location'))) },
    sasl: { mechanism: 'SCRAM-SHA-512', username: value('sasl.username'), password: value('sasl.password') },
  }
}

const certificateIn = (output: string) =>
  /-----BEGIN CERTIFICATE-----[\s\S]*-----END CERTIFICATE-----/.exec(output)?.[0]
