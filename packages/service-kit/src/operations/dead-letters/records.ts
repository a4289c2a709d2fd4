import { deadLetterTopic, describeProblem, isGuid, type Problem } from '@orderflow/envelope'
import { digestOf, unread } from '../../stream/dead-letter.ts'
import type { LogRecord } from '../../stream/log-record.ts'
import {
  acceptanceHeaders,
  deadLetterHeaders,
  keyBytes,
  noteHeaders,
  originOf,
  parsePosition,
  positionText,
  type RecordPosition,
} from '../../stream/record.ts'
import { isoTime, recordTime } from '../../stream/record-time.ts'
import { whileHandling } from '../../telemetry/context.ts'
import { contractMask } from '../../telemetry/mask.ts'
import { signatureHeader } from '../../trust/trust.ts'
import { headerOf, type LogReader, positionOfRecord, recordAt, type Span } from '../log-reader.ts'

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

/**
 * Reads the records of a dead-letter topic in order, including those of other applications.
 * @param spans the parts of partitions to read; by default, the whole topic
 */
export async function* readDeadLetterTopic(
  log: LogReader,
  topic: string,
  spans?: Span[],
): AsyncGenerator<DeadLetterRecord | { kind: 'other' }> {
  for await (const records of log.read(topic, spans ?? (await log.spans(topic)))) yield* records.map(readRecord)
}

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

const guidIn = (text: string | undefined): string | undefined => (isGuid(text) ? text.toLowerCase() : undefined)

/** Returns the time in a header; undefined if it is missing or has another form. */
const timeIn = (text = ''): number | undefined => (/^\d{1,15}$/.test(text) ? recordTime(Number(text)) : undefined)

export interface FailedEvent {
  /** The reasons for the failure: a JSON list of problems, or a sentence. */
  detail: string
  key: Buffer | undefined
  value: Buffer | undefined
  headers: LogRecord['headers']
  /** The time when the broker appended the failed record; NaN if the publisher set it. If the record is missing: the time of the dead letter. */
  appendedAt: number
}

const carried: ReadonlySet<string> = new Set(['traceparent', 'tracestate', signatureHeader])

/**
 * Returns the problems in a dead letter's detail. A list of problems contains no values of the event. A sentence may contain values, so it is masked
 * again unless `values` is true.
 */
export function problemsOf({ detail, value }: FailedEvent, values: boolean): string[] {
  try {
    return (JSON.parse(detail) as Problem[]).map(describeProblem)
  } catch {
    return [values ? detail : whileHandling(value, () => contractMask.text(detail))]
  }
}

export const lost = 'the log has deleted the event, and the dead letter does not contain it'

/** Returns the event from the failed record, or from the dead letter if the record is missing. Undefined if the log has deleted the dead letter. */
export async function readEvent(
  log: LogReader,
  { position, deadLetterPosition, arrivedAt }: Pick<DeadLetter, 'position' | 'deadLetterPosition' | 'arrivedAt'>,
): Promise<FailedEvent | undefined> {
  const deadLetter = await log.at(deadLetterPosition)
  if (!deadLetter) return undefined
  const record = await recordAt(log, position)
  const digest = headerOf(deadLetter, deadLetterHeaders.cut)
  const isSame =
    record &&
    isOf(record, deadLetter, digest) &&
    (arrivedAt === undefined || recordTime(record.timestamp) === arrivedAt)
  const value = digest === undefined ? deadLetter.value : undefined
  const { key, headers, ...own } = isSame ? record : { value, ...remainsOf(deadLetter) }
  const detail = headerOf(deadLetter, deadLetterHeaders.detail) ?? ''
  const appendedAt = isSame ? record.appendedAt : deadLetter.timestamp
  return { detail, key, value: own.value, headers, appendedAt }
}

/** The allowed difference between the broker's clock (time of the record) and the service's clock (time of the dead letter). */
const maxClockSkewMs = 60_000

/** Returns true if a dead letter is about this record. After the topic was created again, another record may have the same position. */
function isOf(record: LogRecord, deadLetter: LogRecord, digest: string | undefined): boolean {
  // The service failed to read the record, so the dead letter has no digest. Only the times can be compared.
  if (digest === unread) return recordTime(record.timestamp) <= recordTime(deadLetter.timestamp) + maxClockSkewMs
  return digestOf(record.value) === (digest ?? digestOf(deadLetter.value))
}

function remainsOf(deadLetter: LogRecord): Pick<LogRecord, 'key' | 'headers'> {
  const headers = deadLetter.headers.filter(([name]) => carried.has(name.toString()))
  const escaped = headerOf(deadLetter, deadLetterHeaders.key)
  if (escaped === undefined) return { key: deadLetter.key, headers }
  return { key: keyBytes(escaped), headers }
}

/** The end offset of each partition at the time when the dead letters were listed. The keys have the form `topic/partition`. */
export type ReadUpTo = ReadonlyMap<string, bigint>

interface ReplayNotes {
  catchUp(topics: Iterable<string>): Promise<void>
  /** Returns the newest note about a failed record. Notes about other records at the same position are ignored. */
  noteOf(failed: { position: RecordPosition; record: string | undefined }): ReplayNote | undefined
}

const partitionText = (topic: string, partition: number) => `${topic}/${partition}`

/** Reads the notes that replays wrote after the offsets `readUpTo`. Without `readUpTo`, it reads all notes. */
export function followNotes(log: LogReader, readUpTo: ReadUpTo = new Map()): ReplayNotes {
  const next = new Map(readUpTo)
  const notes = new Map<string, ReplayNote[]>()

  async function readOn(topic: string): Promise<void> {
    const spans = (await log.spans(topic)).map((span) => {
      const from = next.get(partitionText(topic, span.partition)) ?? span.start
      // An offset beyond the end of the partition is from an earlier topic of the same name.
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
