import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { Consumer, type Message, Producer } from '@platformatic/kafka'
import { type PaymentState, pay, paymentKey, readOrderCreated } from './payment.ts'

// `node direct-payments.ts` with BROKER, DATABASE and TOPIC (to publish to): a Kafka client and SQLite in one process.
const { BROKER: broker = '', DATABASE: file = '', TOPIC: topic = '' } = process.env
const maxBatch = 1_000
/**
 * The largest number of events in a batch. All of them may go to one partition, which accepts 256 KiB
 * (packages/service-kit/src/stream/publishing/topic-settings.ts).
 */
const maxPublished = 250

/** Has the same settings as daprd’s component: a commit waits until its data is on the disk. */
const database = new DatabaseSync(file, { timeout: 10_000 })
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
database.exec('CREATE TABLE IF NOT EXISTS state (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)')
const select = database.prepare('SELECT value FROM state WHERE key = ?')
const upsert = database.prepare('INSERT OR REPLACE INTO state (key, value) VALUES (?, ?)')

const client = { clientId: 'direct-payments', bootstrapBrokers: [broker] }
const producer = new Producer<string, Buffer, Buffer, Buffer>({
  ...client,
  serializers: { key: (key) => Buffer.from(key ?? '') },
})
const consumer = new Consumer({ ...client, groupId: 'direct-payments', highWaterMark: 2 * maxBatch })
const stream = await consumer.consume({
  topics: ['orderevents'],
  mode: 'committed',
  fallbackMode: 'earliest',
  autocommit: false,
})

/** Stores the payments, waits until the broker has the announcements, then commits the offsets. Duplicates are harmless. */
async function handle(messages: Message[]): Promise<void> {
  database.exec('BEGIN IMMEDIATE')
  const announcements = messages.flatMap(({ value, partition, offset }) => {
    const event = readOrderCreated(value, { topic: 'orderevents', partition, offset: String(offset) })
    if (!event) return []
    const key = paymentKey(event)
    const known = select.get(key)
    const { state, announcement } = pay(event, known && (JSON.parse(String(known.value)) as PaymentState))
    if (!known) upsert.run(key, JSON.stringify(state))
    return [{ topic, key: event.Payload.OrderId, value: Buffer.from(JSON.stringify(announcement)) }]
  })
  database.exec('COMMIT')
  const sends = Array.from({ length: Math.ceil(announcements.length / maxPublished) }, (_, index) =>
    producer.send({ messages: announcements.slice(index * maxPublished, (index + 1) * maxPublished), acks: -1 }),
  )
  await Promise.all(sends)
  const last = new Map(messages.map((message) => [message.partition, message]))
  const offsets = [...last.values()].map(({ partition, offset, leaderEpoch }) => {
    return { topic: 'orderevents', partition, offset: offset + 1n, leaderEpoch: leaderEpoch ?? -1 }
  })
  await consumer.commit({ offsets })
}

function take(): Message[] {
  const messages: Message[] = []
  while (messages.length < maxBatch) {
    const message = stream.read() as Message | null
    if (!message) break
    messages.push(message)
  }
  return messages
}

const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
while (!stop.signal.aborted) {
  const messages = take()
  if (messages.length > 0) await handle(messages)
  else await once(stream, 'readable', stop).catch(unlessStopped)
}
// Leaves the consumer group, so that the next start need not wait.
await consumer.close(true)
await producer.close()

function unlessStopped(error: unknown): void {
  if (!stop.signal.aborted) throw error
}
