import { deadLetterTopic, isGuid } from '@orderflow/envelope-schema'
import { digestOf } from '../../stream/dead-letter.ts'
import { letterHeaders, noteHeaders, originOf, type Place, parsePlace } from '../../stream/record.ts'
import type { LogReader, Span } from '../log-reader.ts'
import { headerOf, type LogRecord, placeOf } from '../log-record.ts'

/** One dead letter as it stands on `<topic>.dead`, without the event's bytes. Written by `deadLetterOf`. */
export interface Letter {
  kind: 'letter'
  app: string
  reason: string
  /** Of the very record that failed. */
  place: Place
  /** Where the event first stood, as its record says: that place, or an earlier one when it says that it was resent. */
  origin: Place
  /** Id of that record, and when it reached the log in milliseconds since 1970; undefined in letters of 0.1.0 and last-resort ones. */
  record: string | undefined
  arrivedAt: number | undefined
  /** SHA-256 of the record's value, in hex, where the id is unknown; undefined for a letter without its event. */
  digest: string | undefined
  /** ISO 8601, UTC. */
  time: string
  /** Of the dead letter itself. */
  stands: Place
}

/** Says on `<topic>.dead` that what failed at a place was resent. Written by `publishMended`. */
export interface ResendNote {
  kind: 'note'
  of: Place
  as: Place
  /** Ids of both records; undefined in notes of 0.1.0, for a letter without one, and where the new record could not be read. */
  ofRecord: string | undefined
  asRecord: string | undefined
  edited: boolean
  /** ISO 8601, UTC. */
  time: string
}

/**
 * What stands on a dead-letter topic, in order. What is neither letter nor note was written by somebody else.
 * @param spans the parts to read; the whole topic when left out
 */
export async function* readLetters(
  log: LogReader,
  topic: string,
  spans?: Span[],
): AsyncGenerator<Letter | ResendNote | { kind: 'other' }> {
  for await (const records of log.read(topic, spans ?? (await log.spans(topic)))) yield* records.map(readRecord)
}

/** What a record of a dead-letter topic is. */
export function readRecord(record: LogRecord): Letter | ResendNote | { kind: 'other' } {
  return letterOf(record) ?? noteOf(record) ?? { kind: 'other' }
}

/** Characters of an app's name (as of AppName, envelope-schema) and of a reason: longer ones were not written by us. */
const maxAppLength = 200
const maxReasonLength = 100

function letterOf(record: LogRecord): Letter | undefined {
  const header = (name: keyof typeof letterHeaders) => headerOf(record, letterHeaders[name])
  const [app, reason, resent] = [header('app'), header('reason'), header('resent')]
  const [id, arrived = ''] = [guidIn(header('record')), header('arrived')]
  if (!app || !reason || app.length > maxAppLength || reason.length > maxReasonLength) return undefined
  const claimed = `${header('topic')}/${header('partition')}/${header('offset')}`
  const place = parsePlace(resent ?? claimed)
  if (!place || deadLetterTopic(place.topic) !== record.topic) return undefined
  // Checked again: older services believed any origin of the topic, and their letters are in the log for ever.
  return {
    kind: 'letter',
    app,
    reason,
    place,
    origin: originOf(place, claimed),
    record: id,
    arrivedAt: id !== undefined && /^-?\d{1,15}$/.test(arrived) ? Number(arrived) : undefined,
    digest: id === undefined ? digestIn(record) : undefined,
    time: isoTime(record),
    stands: placeOf(record),
  }
}

function noteOf(record: LogRecord): ResendNote | undefined {
  const [of, as] = [headerOf(record, noteHeaders.of), headerOf(record, noteHeaders.as)].map(parsePlace)
  if (!of || !as || deadLetterTopic(of.topic) !== record.topic) return undefined
  return {
    kind: 'note',
    of,
    as,
    ofRecord: guidIn(headerOf(record, noteHeaders.ofRecord)),
    asRecord: guidIn(headerOf(record, noteHeaders.asRecord)),
    edited: headerOf(record, noteHeaders.edited) === 'true',
    time: isoTime(record),
  }
}

const guidIn = (text: string | undefined): string | undefined => (isGuid(text) ? text.toLowerCase() : undefined)

function digestIn(record: LogRecord): string | undefined {
  return headerOf(record, letterHeaders.cut) ?? (record.value.length > 0 ? digestOf(record.value) : undefined)
}

function isoTime({ timestamp }: LogRecord): string {
  return new Date(timestamp).toISOString()
}
