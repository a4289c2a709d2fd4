import type { RecordsBatch } from '@platformatic/kafka'

/** A record's position in the log. The offset is a decimal string, because it has 64 bits. */
export interface RecordPosition {
  topic: string
  partition: number
  offset: string
}

export const positionText = ({ topic, partition, offset }: RecordPosition): string => `${topic}/${partition}/${offset}`

const form = /^(?<topic>[a-zA-Z0-9._-]{1,249})\/(?<partition>0|[1-9]\d{0,8})\/(?<offset>0|[1-9]\d{0,18})$/

/** The largest signed integer of 64 bits (Kafka protocol, INT64). */
const lastOffset = 2n ** 63n - 1n

/** Parses a position such as `a-topic/2/17`. Returns undefined for an invalid text. */
export function parsePosition(text: string | undefined): RecordPosition | undefined {
  const named = form.exec(text ?? '')?.groups as Record<keyof RecordPosition, string> | undefined
  if (!named || BigInt(named.offset) > lastOffset) return undefined
  return { topic: named.topic, partition: Number(named.partition), offset: named.offset }
}

/** Returns true if the first position is earlier than the second position, in the same partition. Positions of different partitions have no order. */
export function precedes(first: RecordPosition, second: RecordPosition): boolean {
  return (
    first.topic === second.topic && first.partition === second.partition && BigInt(first.offset) < BigInt(second.offset)
  )
}

export interface LogRecord {
  topic: string
  partition: number
  offset: bigint
  /** The time of arrival or the publisher's time, depending on the topic's settings, in milliseconds since 1970. */
  timestamp: number
  /** The time when the broker appended the record; NaN if the publisher set `timestamp`. */
  appendedAt: number
  key: Buffer | undefined
  /** The value; empty for a tombstone (a record without a value). */
  value: Buffer
  /** The same header name may occur several times. */
  headers: [name: Buffer, value: Buffer][]
}

// Bits in the attributes of a batch (Kafka protocol): the broker set the time, and the batch has only a transaction's marker.
const logAppendTime = 1 << 3
const control = 1 << 5

const none = Buffer.alloc(0)

/** Returns the records of a stored batch; an empty list for a transaction's marker. */
export function recordsOf(topic: string, partition: number, batch: RecordsBatch): LogRecord[] {
  if (batch.attributes & control) return []
  const appendedAt = batch.attributes & logAppendTime ? Number(batch.maxTimestamp) : Number.NaN
  return batch.records.map(({ key, value, headers, offsetDelta, timestampDelta }) => ({
    topic,
    partition,
    offset: batch.firstOffset + BigInt(offsetDelta),
    timestamp: Number.isNaN(appendedAt) ? Number(batch.firstTimestamp + timestampDelta) : appendedAt,
    appendedAt,
    key: key ?? undefined,
    value: value ?? none,
    headers: headers.map(([name, text]) => [name ?? none, text ?? none]),
  }))
}

/** Returns a header's value as text. If the header is repeated, the last value applies, as in the sidecar. */
export function headerOf({ headers }: Pick<LogRecord, 'headers'>, name: string): string | undefined {
  return headers.findLast(([key]) => key.toString() === name)?.[1].toString()
}

export function positionOfRecord({ topic, partition, offset }: LogRecord): RecordPosition {
  return { topic, partition, offset: String(offset) }
}

export const whereIs = (record: LogRecord): string => positionText(positionOfRecord(record))
