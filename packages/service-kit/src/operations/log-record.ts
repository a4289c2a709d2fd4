import type { RecordsBatch } from '@platformatic/kafka'
import { logAppendTime } from '../stream/append-times.ts'
import { type Place, placeText } from '../stream/record.ts'

/** A record of the log as it is stored: bytes. */
export interface LogRecord {
  topic: string
  partition: number
  offset: bigint
  /** Milliseconds since the epoch: when it reached the log, or what its publisher says, as the topic is set. */
  timestamp: number
  /** When the broker appended it; NaN where its publisher chose `timestamp`. */
  appendedAt: number
  key: Buffer | undefined
  /** Empty for a tombstone. */
  value: Buffer
  /** In their order; a name may come twice. */
  headers: [name: Buffer, value: Buffer][]
}

/** A bit of a batch's attributes (Kafka protocol, record batch). */
const control = 1 << 5

const none = Buffer.alloc(0)

/** The records of a batch as the broker keeps it; none of a transaction's marker. */
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

/** A header's value as text; of several with one name the last, as the sidecar has it. */
export function headerOf({ headers }: Pick<LogRecord, 'headers'>, name: string): string | undefined {
  return headers.findLast(([key]) => key.toString() === name)?.[1].toString()
}

export function placeOf({ topic, partition, offset }: LogRecord): Place {
  return { topic, partition, offset: String(offset) }
}

export const whereIs = (record: LogRecord): string => placeText(placeOf(record))
