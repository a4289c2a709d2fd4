import { createHash } from 'node:crypto'
import { deadLetterTopic, deadlines, orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { type LogRecord, openLog } from '@orderflow/kafka-log'
import type { KafkaConnection } from '@orderflow/stack'
import type { Book, DeadLetter, LoggedEvent } from './book.ts'

/** The header that marks a poison record for the ledger. Its value is the record’s name. */
export const poisonHeader = 'test-poison'

const allTopics = [orderEvents, paymentEvents, deadlines]

/**
 * Reads the log up to its current end into the ledger.
 * @param eventTopics the topics to read, with their dead letters. An application of an earlier release has fewer
 */
export async function readLog(
  kafka: KafkaConnection,
  book: Book,
  eventTopics: readonly string[] = allTopics,
): Promise<void> {
  const log = openLog(kafka)
  const deadTopics = eventTopics.map(deadLetterTopic)
  try {
    await book.together(async () => {
      for (const topic of [...eventTopics, ...deadTopics]) {
        for await (const records of log.read(topic, await log.spans(topic))) {
          if (deadTopics.includes(topic)) for (const record of records) book.deadLetter(parseDeadLetter(record))
          else for (const record of records) book.logged(eventOf(record))
        }
      }
    })
  } finally {
    await log.close()
  }
}

function eventOf({ topic, partition, offset, key, value, headers, appendedAt: at }: LogRecord): LoggedEvent {
  const digest = createHash('sha256').update(value).digest('base64url').slice(0, 16)
  const origin = { topic, partition, offset, digest, at }
  const poison = header(headers, poisonHeader)
  if (poison) return { ...origin, poison }
  const { Id: eventId, Name: name, Payload: payload } = parse(value)
  if (typeof name !== 'string') return origin
  const { EntityId = key?.toString(), OrderId = EntityId, Total, Amount = Total } = Object(payload)
  return {
    ...origin,
    name,
    ...(typeof eventId === 'string' && { eventId }),
    ...(typeof OrderId === 'string' && { orderId: OrderId.toLowerCase() }),
    ...(typeof Amount === 'number' && { amount: Amount }),
  }
}

/** Returns an empty object for text that is not a JSON object. */
function parse(value: Buffer): Record<string, unknown> {
  try {
    return JSON.parse(value.toString()) ?? {}
  } catch {
    return {}
  }
}

function parseDeadLetter({ headers }: LogRecord): DeadLetter {
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

function header(headers: LogRecord['headers'], name: string): string | undefined {
  return headers.findLast(([key]) => key.toString() === name)?.[1].toString()
}
