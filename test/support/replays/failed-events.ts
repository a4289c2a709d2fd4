import { reduced } from '@orderflow/chaos/clients/envelopes'
import { type LogReader, positionText } from '@orderflow/kafka-log'
import type { Producer } from '@platformatic/kafka'

const topic = 'orderevents'

export type Client = Producer<Buffer, Buffer, Buffer, Buffer>
export interface Position {
  topic: string
  partition: number
  offset: string
}

const bytesOf = (headers: Record<string, string>) =>
  new Map(Object.entries(headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)]))

/** The number of records sent together. A batch must stay below the topic’s limit. */
const batchLength = 200

async function append(
  producer: Client,
  to: string,
  records: { value: Buffer; headers: Record<string, string> }[],
): Promise<Position[]> {
  const positions: Position[] = []
  for (let at = 0; at < records.length; at += batchLength) {
    const messages = records
      .slice(at, at + batchLength)
      .map(({ value, headers }) => ({ topic: to, partition: 0, value, headers: bytesOf(headers) }))
    const { offsets } = await producer.send({ messages, acks: -1 })
    const first = offsets?.[0]?.offset ?? -1n
    positions.push(...messages.map((_, index) => ({ topic: to, partition: 0, offset: String(first + BigInt(index)) })))
  }
  return positions
}

/**
 * Publishes valid events of an application, and for each event a dead letter with the reason `handler-error`.
 * @returns the positions of the events
 */
export async function publishFailed(producer: Client, count: number, AppName: string): Promise<Position[]> {
  const values = Array.from({ length: count }, () => Buffer.from(JSON.stringify(reduced({}, { AppName }))))
  const positions = await append(
    producer,
    topic,
    values.map((value) => ({ value, headers: {} })),
  )
  await publishDeadLetters(
    producer,
    positions.map((position, index) => ({ position, value: values[index] as Buffer })),
  )
  return positions
}

export async function publishDeadLetters(
  producer: Client,
  failures: { position: Position; value: Buffer; origin?: Position }[],
  { reason = 'handler-error', app = 'payment-service' } = {},
): Promise<void> {
  const deadLetters = failures.map(({ position, value, origin = position }) => ({
    value,
    headers: {
      'deadletter-app': app,
      'deadletter-reason': reason,
      'deadletter-topic': topic,
      'deadletter-partition': String(origin.partition),
      'deadletter-offset': origin.offset,
      ...(origin !== position && { 'deadletter-replay': positionText(position) }),
    },
  }))
  await append(producer, `${topic}.dead`, deadLetters)
}

export async function replaysIn(log: LogReader): Promise<Map<string, Position[]>> {
  const replays = new Map<string, Position[]>()
  for await (const records of log.read(topic, await log.spans(topic))) {
    for (const { headers, partition, offset } of records) {
      const origin = headers.find(([name]) => name.toString() === 'replayed-from')?.[1].toString()
      if (origin === undefined) continue
      replays.set(origin, [...(replays.get(origin) ?? []), { topic, partition, offset: String(offset) }])
    }
  }
  return replays
}
