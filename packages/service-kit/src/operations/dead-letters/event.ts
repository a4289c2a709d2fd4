import { digestOf, unread } from '../../stream/dead-letter.ts'
import { keyBytes, letterHeaders } from '../../stream/record.ts'
import { signatureHeader } from '../../trust/signature.ts'
import { type LogReader, recordAt } from '../log-reader.ts'
import { headerOf, type LogRecord } from '../log-record.ts'
import type { Attempt } from './entries.ts'

/** What there is of an event that failed. */
export interface FailedEvent {
  /** What to mend, as the app said it: a list of problems in JSON, or a sentence. */
  detail: string
  key: Buffer | undefined
  /** Undefined when neither its dead letter nor the log has it. */
  value: Buffer | undefined
  headers: LogRecord['headers']
  /** When its record reached the log, or its dead letter did when there is no more than that: milliseconds since the epoch. */
  arrivedAt: number
  /** When the broker appended its record, or its dead letter was written when the log has the record no more; NaN as in `LogRecord`. */
  appendedAt: number
}

/** Headers of a record that its dead letter has, too (`deadLetterOf`). */
const carried: ReadonlySet<string> = new Set(['traceparent', signatureHeader])

export const lost = 'the dead letter is without the event, and the log has it no more'

/**
 * The event of an attempt: the very record that failed, as long as the log holds it, and otherwise what its dead letter has of
 * it. Undefined when the dead letter is not in the log any more.
 */
export async function readEvent(
  log: LogReader,
  { place, stands, arrivedAt }: Attempt,
): Promise<FailedEvent | undefined> {
  const letter = await log.at(stands)
  if (!letter) return undefined
  const record = await recordAt(log, place)
  const digest = headerOf(letter, letterHeaders.cut)
  const isSame = record && isOf(record, letter, digest) && (arrivedAt === undefined || record.timestamp === arrivedAt)
  const value = digest === undefined ? letter.value : undefined
  const { key, headers, timestamp, ...own } = isSame ? record : { value, ...remainsOf(letter) }
  const detail = headerOf(letter, letterHeaders.detail) ?? ''
  const appendedAt = isSame ? record.appendedAt : letter.timestamp
  return { detail, key, value: own.value, headers, arrivedAt: arrivedAt ?? timestamp, appendedAt }
}

/** The broker's clock dates the record, the clock of the service's machine the dead letter. */
const maxClockSkewMs = 60_000

/** Whether a dead letter is of this record. Another one may have its position by now, when the topic was deleted and created again. */
function isOf(record: LogRecord, letter: LogRecord, digest: string | undefined): boolean {
  // A dead letter whose record was not read only shows that the record is older.
  if (digest === unread) return record.timestamp <= letter.timestamp + maxClockSkewMs
  return digestOf(record.value) === (digest ?? digestOf(letter.value))
}

/** What a dead letter has of the record's key and headers. A binary key came URL-escaped. */
function remainsOf(letter: LogRecord): Pick<LogRecord, 'key' | 'headers' | 'timestamp'> {
  const { timestamp } = letter
  const headers = letter.headers.filter(([name]) => carried.has(name.toString()))
  const escaped = headerOf(letter, letterHeaders.key)
  if (escaped === undefined) return { key: letter.key, headers, timestamp }
  return { key: keyBytes(escaped), headers, timestamp }
}
