import { deadLetterTopic } from '@orderflow/envelope-schema'
import { deadLetterId } from '../../stream/dead-letter.ts'
import { type Place, parsePlace, placeText } from '../../stream/place.ts'
import { letterHeaders, noteHeaders } from '../../stream/record-headers.ts'
import type { LogReader } from '../log-reader.ts'
import { headerOf, type LogRecord, placeOf } from '../log-record.ts'

/** One dead letter as it stands on `<topic>.dead`, without the event's bytes. Written by `deadLetterOf`. */
export interface Letter {
  kind: 'letter'
  id: string
  app: string
  reason: string
  /** Where the event first stood. */
  origin: Place
  /** Of the very record that failed, as text: the origin, or that of a record that was resent. */
  place: string
  /** ISO 8601, UTC. */
  time: string
  /** Of the dead letter itself. */
  stands: Place
}

/** Says on `<topic>.dead` that what failed at a place was resent. Written by `resendDeadLetters`. */
export interface ResendNote {
  kind: 'note'
  of: string
  as: string
  edited: boolean
  /** ISO 8601, UTC. */
  time: string
}

/** What stands on a dead-letter topic, in order. What is neither letter nor note was written by somebody else. */
export async function* readLetters(
  log: LogReader,
  topic: string,
): AsyncGenerator<Letter | ResendNote | { kind: 'other' }> {
  for await (const records of log.read(topic, await log.spans(topic))) yield* records.map(read)
}

function read(record: LogRecord): Letter | ResendNote | { kind: 'other' } {
  return letterOf(record) ?? noteOf(record) ?? { kind: 'other' }
}

function letterOf(record: LogRecord): Letter | undefined {
  const header = (name: keyof typeof letterHeaders) => headerOf(record, letterHeaders[name])
  const [app, reason] = [header('app'), header('reason')]
  const origin = parsePlace(`${header('topic')}/${header('partition')}/${header('offset')}`)
  if (!app || !reason || !origin || deadLetterTopic(origin.topic) !== record.topic) return undefined
  const resent = parsePlace(header('resent'))
  return {
    kind: 'letter',
    id: deadLetterId(app, origin),
    app,
    reason,
    origin,
    place: placeText(resent ?? origin),
    time: isoTime(record),
    stands: placeOf(record),
  }
}

function noteOf(record: LogRecord): ResendNote | undefined {
  const [of, as] = [headerOf(record, noteHeaders.of), headerOf(record, noteHeaders.as)]
  if (!of || !as) return undefined
  return { kind: 'note', of, as, edited: headerOf(record, noteHeaders.edited) === 'true', time: isoTime(record) }
}

function isoTime({ timestamp }: LogRecord): string {
  return new Date(timestamp).toISOString()
}
