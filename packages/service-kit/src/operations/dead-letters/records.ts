import { deadLetterTopic, isGuid } from '@orderflow/envelope'
import { digestOf, unread } from '../../stream/dead-letter.ts'
import {
  deadLetterHeaders,
  keyBytes,
  noteHeaders,
  originOf,
  parsePosition,
  positionText,
  type RecordPosition,
} from '../../stream/record.ts'
import { signatureHeader } from '../../trust/trust.ts'
import { headerOf, type LogReader, type LogRecord, positionOfRecord, recordAt, type Span } from '../log-reader.ts'

/** A dead letter on `<topic>.dead`, without the event's bytes. Written by `deadLetterOf`. */
export interface DeadLetter {
  kind: 'dead-letter'
  app: string
  reason: string
  /** Position of the record that failed. */
  position: RecordPosition
  /** Position where the event first was, as its record claims: that position, or an earlier one if the record was replayed. */
  origin: RecordPosition
  /** Id of that record, and when it reached the log, in milliseconds since 1970. Dead letters of 0.1.0 and last-resort ones have neither. */
  record: string | undefined
  arrivedAt: number | undefined
  /** SHA-256 of the record's value, in hex, if the id is unknown; undefined for a dead letter without its event. */
  digest: string | undefined
  /** ISO 8601, UTC. */
  time: string
  /** Position of the dead letter itself. */
  deadLetterPosition: RecordPosition
}

/** A note on `<topic>.dead` that the record at a position was replayed. Written by `publishReplay`. */
export interface ReplayNote {
  kind: 'note'
  of: RecordPosition
  as: RecordPosition
  /** Ids of both records; undefined in notes of 0.1.0, for a dead letter without an id, and if the new record could not be read. */
  ofRecord: string | undefined
  asRecord: string | undefined
  edited: boolean
  /** ISO 8601, UTC. */
  time: string
}

/**
 * Reads the records of a dead-letter topic, in order. A record that is neither dead letter nor note is not ours.
 * @param spans the parts to read; the whole topic by default
 */
export async function* readDeadLetterTopic(
  log: LogReader,
  topic: string,
  spans?: Span[],
): AsyncGenerator<DeadLetter | ReplayNote | { kind: 'other' }> {
  for await (const records of log.read(topic, spans ?? (await log.spans(topic)))) yield* records.map(readRecord)
}

/** Returns a record of a dead-letter topic as dead letter or note. */
export function readRecord(record: LogRecord): DeadLetter | ReplayNote | { kind: 'other' } {
  return parseDeadLetter(record) ?? noteOf(record) ?? { kind: 'other' }
}

/** Characters of an app's name (as of AppName, envelope-schema) and of a reason. A dead letter with longer ones is not ours. */
const maxAppLength = 200
const maxReasonLength = 100

function parseDeadLetter(record: LogRecord): DeadLetter | undefined {
  const header = (name: keyof typeof deadLetterHeaders) => headerOf(record, deadLetterHeaders[name])
  const [app, reason, replayed] = [header('app'), header('reason'), header('replayed')]
  const [id, arrived = ''] = [guidIn(header('record')), header('arrived')]
  if (!app || !reason || app.length > maxAppLength || reason.length > maxReasonLength) return undefined
  const claimed = `${header('topic')}/${header('partition')}/${header('offset')}`
  const position = parsePosition(replayed ?? claimed)
  if (!position || deadLetterTopic(position.topic) !== record.topic) return undefined
  // The claimed origin is checked here, too, because a replay publishes to its topic and partition.
  return {
    kind: 'dead-letter',
    app,
    reason,
    position,
    origin: originOf(position, claimed),
    record: id,
    arrivedAt: id !== undefined && /^-?\d{1,15}$/.test(arrived) ? Number(arrived) : undefined,
    digest: id === undefined ? digestIn(record) : undefined,
    time: isoTime(record),
    deadLetterPosition: positionOfRecord(record),
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
    time: isoTime(record),
  }
}

const guidIn = (text: string | undefined): string | undefined => (isGuid(text) ? text.toLowerCase() : undefined)

function digestIn(record: LogRecord): string | undefined {
  return headerOf(record, deadLetterHeaders.cut) ?? (record.value.length > 0 ? digestOf(record.value) : undefined)
}

function isoTime({ timestamp }: LogRecord): string {
  return new Date(timestamp).toISOString()
}

/** The event of a dead letter, as far as it can be read. */
export interface FailedEvent {
  /** What to correct, as the app wrote it: a list of problems in JSON, or a sentence. */
  detail: string
  key: Buffer | undefined
  /** Undefined if neither its dead letter nor the log has it. */
  value: Buffer | undefined
  headers: LogRecord['headers']
  /** When its record reached the log, or its dead letter if that is all there is: milliseconds since 1970. */
  arrivedAt: number
  /** When the broker appended its record, or its dead letter if the log no longer has the record; NaN as in `LogRecord`. */
  appendedAt: number
}

/** Headers of a record that `deadLetterOf` copies. */
const carried: ReadonlySet<string> = new Set(['traceparent', signatureHeader])

export const lost = 'the dead letter is without the event, and the log has it no more'

/**
 * Returns the event of a dead letter: from the record that failed, if the log still has it, otherwise from the dead letter.
 * Undefined if the log no longer has the dead letter.
 */
export async function readEvent(
  log: LogReader,
  { position, deadLetterPosition, arrivedAt }: Pick<DeadLetter, 'position' | 'deadLetterPosition' | 'arrivedAt'>,
): Promise<FailedEvent | undefined> {
  const deadLetter = await log.at(deadLetterPosition)
  if (!deadLetter) return undefined
  const record = await recordAt(log, position)
  const digest = headerOf(deadLetter, deadLetterHeaders.cut)
  const isSame =
    record && isOf(record, deadLetter, digest) && (arrivedAt === undefined || record.timestamp === arrivedAt)
  const value = digest === undefined ? deadLetter.value : undefined
  const { key, headers, timestamp, ...own } = isSame ? record : { value, ...remainsOf(deadLetter) }
  const detail = headerOf(deadLetter, deadLetterHeaders.detail) ?? ''
  const appendedAt = isSame ? record.appendedAt : deadLetter.timestamp
  return { detail, key, value: own.value, headers, arrivedAt: arrivedAt ?? timestamp, appendedAt }
}

/** The broker's clock dates the record; the clock of the service's machine dates the dead letter. */
const maxClockSkewMs = 60_000

/** Returns whether a dead letter is about this record. After the topic was deleted and created again, another record may have its position. */
function isOf(record: LogRecord, deadLetter: LogRecord, digest: string | undefined): boolean {
  // A dead letter whose record was not read only shows that the record is older.
  if (digest === unread) return record.timestamp <= deadLetter.timestamp + maxClockSkewMs
  return digestOf(record.value) === (digest ?? digestOf(deadLetter.value))
}

/** Returns the record's key and headers as its dead letter has them. A binary key is URL-escaped there. */
function remainsOf(deadLetter: LogRecord): Pick<LogRecord, 'key' | 'headers' | 'timestamp'> {
  const { timestamp } = deadLetter
  const headers = deadLetter.headers.filter(([name]) => carried.has(name.toString()))
  const escaped = headerOf(deadLetter, deadLetterHeaders.key)
  if (escaped === undefined) return { key: deadLetter.key, headers, timestamp }
  return { key: keyBytes(escaped), headers, timestamp }
}

/** The first unread offset of each partition, by `topic/partition`, after a list of dead letters was read. */
export type ReadUpTo = ReadonlyMap<string, bigint>

/** The notes that any process added after a list of dead letters was read. */
interface ReplayNotes {
  /** Reads the dead-letter topics of these topics up to their present ends. */
  catchUp(topics: Iterable<string>): Promise<void>
  /** Returns the note that a record was replayed: the newest one for its position that is not about another record. */
  noteOf(failed: { position: RecordPosition; record: string | undefined }): ReplayNote | undefined
}

const partitionText = (topic: string, partition: number) => `${topic}/${partition}`

/** Follows the notes from where a list of dead letters ends; from the oldest record without `readUpTo`. */
export function followNotes(log: LogReader, readUpTo: ReadUpTo = new Map()): ReplayNotes {
  const next = new Map(readUpTo)
  const notes = new Map<string, ReplayNote[]>()

  async function readOn(topic: string): Promise<void> {
    const spans = (await log.spans(topic)).map((span) => {
      const from = next.get(partitionText(topic, span.partition)) ?? span.start
      // Offsets beyond the end are those of a topic that was deleted and created again.
      return { ...span, start: from > span.end || from < span.start ? span.start : from }
    })
    const unread = spans.filter(({ start, end }) => start < end)
    for await (const read of readDeadLetterTopic(log, topic, unread))
      if (read.kind === 'note') notes.set(positionText(read.of), [...(notes.get(positionText(read.of)) ?? []), read])
    for (const { partition, end } of spans) next.set(partitionText(topic, partition), end)
  }

  return {
    async catchUp(topics) {
      for (const topic of new Set(topics)) await readOn(deadLetterTopic(topic))
    },
    noteOf: ({ position, record }) =>
      notes
        .get(positionText(position))
        ?.findLast(({ ofRecord }) => ofRecord === undefined || record === undefined || ofRecord === record),
  }
}

/** Returns the present ends of all dead-letter topics. Call it before reading them. */
export async function deadLetterEnds(log: LogReader): Promise<ReadUpTo> {
  const ends = new Map<string, bigint>()
  for (const topic of await deadLetterTopics(log)) {
    for (const { partition, end } of await log.spans(topic)) ends.set(partitionText(topic, partition), end)
  }
  return ends
}

const suffix = deadLetterTopic('')

async function deadLetterTopics(log: LogReader): Promise<string[]> {
  return (await log.topics()).filter((topic) => topic.endsWith(suffix))
}
