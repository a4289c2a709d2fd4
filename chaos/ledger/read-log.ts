import { createHash, randomUUID } from 'node:crypto'
import { deadLetterTopic, orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import type { KafkaConnection } from '@orderflow/stack'
import { Consumer, ListOffsetTimestamps, type Message, MessagesStreamModes } from '@platformatic/kafka'
import type { Book, DeadLetter, LoggedEvent } from './book.ts'

/** The header by which a test tells the ledger that a record was made to be refused: its value is the record's name. */
export const poisonHeader = 'test-poison'

/** A broker that answers sends a record of those that are unread sooner by far. */
const silenceMs = 30_000

const deadTopics = [deadLetterTopic(orderEvents), deadLetterTopic(paymentEvents)]
const topics = [orderEvents, paymentEvents, ...deadTopics]

/**
 * Reads the whole log as a plain Kafka client does, up to where it ends now, into the book.
 * @throws {Error} saying what is unread, when nothing comes any more
 */
export async function readLog(kafka: KafkaConnection, book: Book): Promise<void> {
  const consumer = new Consumer({ groupId: `ledger-${randomUUID()}`, clientId: 'ledger', ...kafka })
  let silence: NodeJS.Timeout | undefined
  try {
    const unread = new Map<string, bigint>()
    const begins = await consumer.listOffsets({ topics, timestamp: ListOffsetTimestamps.EARLIEST })
    for (const [topic, ends] of await consumer.listOffsets({ topics })) {
      // What a broker has dropped never comes.
      const isThere = (end: bigint, partition: number) => end > (begins.get(topic)?.[partition] ?? 0n)
      for (const [partition, end] of ends.entries())
        if (isThere(end, partition)) unread.set(`${topic} ${partition}`, end)
    }
    if (unread.size === 0) return
    const stream = await consumer.consume({ topics, mode: MessagesStreamModes.EARLIEST, autocommit: false })
    silence = setTimeout(() => {
      const places = [...unread].map(([place, end]) => `${place} until ${end}`)
      stream.destroy(new Error(`nothing came for ${silenceMs} ms; unread: ${places.join(', ')}`))
    }, silenceMs)
    await book.together(async () => {
      for await (const message of stream) {
        silence?.refresh()
        const place = `${message.topic} ${message.partition}`
        if (deadTopics.includes(message.topic)) book.deadLetter(letterOf(message))
        else book.logged(eventOf(message))
        if (message.offset + 1n >= (unread.get(place) ?? 0n)) unread.delete(place)
        if (unread.size === 0) break
      }
    })
  } finally {
    clearTimeout(silence)
    await consumer.close(true)
  }
}

function eventOf({ topic, partition, offset, key, value, headers }: Message): LoggedEvent {
  const digest = createHash('sha256')
    .update(value ?? '')
    .digest('base64url')
    .slice(0, 16)
  const origin = { topic, partition, offset, digest }
  const poison = header(headers, poisonHeader)
  if (poison) return { ...origin, poison }
  const { Id: eventId, Name: name, Payload: payload } = parse(value)
  if (typeof name !== 'string') return origin
  const { OrderId = key?.toString(), Total, Amount = Total } = (payload ?? {}) as Record<string, unknown>
  return {
    ...origin,
    name,
    ...(typeof eventId === 'string' && { eventId }),
    ...(typeof OrderId === 'string' && { orderId: OrderId.toLowerCase() }),
    ...(typeof Amount === 'number' && { amount: Amount }),
  }
}

/** Nothing, of what is no JSON object. */
function parse(value: Buffer | undefined): Record<string, unknown> {
  try {
    return JSON.parse(value?.toString() ?? '') ?? {}
  } catch {
    return {}
  }
}

function letterOf({ headers }: Message): DeadLetter {
  const of = (name: string) => header(headers, `deadletter-${name}`) ?? ''
  return {
    id: of('id'),
    app: of('app'),
    topic: of('topic'),
    partition: Number(of('partition')),
    offset: BigInt(of('offset')),
    reason: of('reason'),
  }
}

function header(headers: Message['headers'], name: string): string | undefined {
  return [...headers].findLast(([key]) => key.toString() === name)?.[1].toString()
}
