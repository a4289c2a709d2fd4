import type { RecordsBatch } from '@platformatic/kafka'
import { logAppendTime } from './append-times.ts'
import { positionText, type RecordPosition } from './record.ts'

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

/** The bit in a batch's attributes that marks a control batch (Kafka protocol). */
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
