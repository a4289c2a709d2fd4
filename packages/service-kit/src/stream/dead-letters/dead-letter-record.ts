import { deadLetterTopic } from '@orderflow/envelope'
import {
  headerOf,
  isoTime,
  type LogRecord,
  parsePosition,
  positionOfRecord,
  type RecordPosition,
  recordTime,
} from '@orderflow/kafka-log'
import { acceptanceHeaders, deadLetterHeaders, guidIn, noteHeaders, originOf } from '../log/record.ts'

/** A dead letter on `<topic>.dead`, as `deadLetterOf` writes it, but without the event's bytes. */
export interface DeadLetter {
  kind: 'dead-letter'
  app: string
  reason: string
  position: RecordPosition
  /** The origin that the failed record claims: its own position, or an earlier position if it is the record of a replay. */
  origin: RecordPosition
  /**
   * The failed record's id, and its time of arrival in milliseconds since 1970 (`recordTime`). Undefined for dead letters with only a position and a
   * reason.
   */
  record: string | undefined
  arrivedAt: number | undefined
  /** The time of the dead letter in ISO 8601, UTC. */
  time: string
  deadLetterPosition: RecordPosition
  /** Set if the service had handled the record before. */
  isStored?: true
}

/** The note of a replay: the record at `of` was published again as the record at `as`. */
export interface ReplayNote {
  kind: 'note'
  of: RecordPosition
  as: RecordPosition
  /** The ids of both records. An unknown id is undefined. */
  ofRecord: string | undefined
  asRecord: string | undefined
  edited: boolean
  /** The time of the note in ISO 8601, UTC. */
  time: string
}

/** The acceptance of a record: the app handled it after it had written a dead letter of it. */
export interface Acceptance {
  kind: 'acceptance'
  app: string
  position: RecordPosition
  /** The record's id; undefined if it is unknown. */
  record: string | undefined
}

export type DeadLetterRecord = DeadLetter | ReplayNote | Acceptance

export function readRecord(record: LogRecord): DeadLetterRecord | { kind: 'other' } {
  return parseDeadLetter(record) ?? noteOf(record) ?? acceptanceOf(record) ?? { kind: 'other' }
}

/** The maximum lengths of an app's name (as in the schema of AppName) and of a reason. A record with a longer text is from another application. */
const maxAppLength = 200
const maxReasonLength = 100

function parseDeadLetter(record: LogRecord): DeadLetter | undefined {
  const header = (name: keyof typeof deadLetterHeaders) => headerOf(record, deadLetterHeaders[name])
  const [app, reason, replayed] = [header('app'), header('reason'), header('replayed')]
  const [id, arrived] = [guidIn(header('record')), header('arrived')]
  if (!app || !reason || app.length > maxAppLength || reason.length > maxReasonLength) return undefined
  const claimed = `${header('topic')}/${header('partition')}/${header('offset')}`
  const position = parsePosition(replayed ?? claimed)
  if (!position || deadLetterTopic(position.topic) !== record.topic) return undefined
  // `originOf` checks the claimed origin, because a replay publishes to the origin's topic and partition.
  return {
    kind: 'dead-letter',
    app,
    reason,
    position,
    origin: originOf(position, claimed),
    record: id,
    arrivedAt: id === undefined ? undefined : timeIn(arrived),
    time: isoTime(record.timestamp),
    deadLetterPosition: positionOfRecord(record),
    ...(header('stored') === 'true' && { isStored: true }),
  }
}

function noteOf(record: LogRecord): ReplayNote | undefined {
  const [of, as] = [headerOf(record, noteHeaders.of), headerOf(record, noteHeaders.as)].map(parsePosition)
  if (!of || !as || deadLetterTopic(of.topic) !== record.topic) return undefined
  return {
    kind: 'note',
    of,
    as,
    ofRecord: guidIn(headerOf(record, noteHeaders.ofRecord)),
    asRecord: guidIn(headerOf(record, noteHeaders.asRecord)),
    edited: headerOf(record, noteHeaders.edited) === 'true',
    time: isoTime(record.timestamp),
  }
}

function acceptanceOf(record: LogRecord): Acceptance | undefined {
  const app = headerOf(record, acceptanceHeaders.app)
  const position = parsePosition(headerOf(record, acceptanceHeaders.position))
  if (!app || app.length > maxAppLength || !position || deadLetterTopic(position.topic) !== record.topic)
    return undefined
  return { kind: 'acceptance', app, position, record: guidIn(headerOf(record, acceptanceHeaders.record)) }
}

/** Returns the time in a header; undefined if it is missing or has another form. */
const timeIn = (text = ''): number | undefined => (/^\d{1,15}$/.test(text) ? recordTime(Number(text)) : undefined)
