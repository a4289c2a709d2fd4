import { deadLetterTopic, describeProblem, type Problem } from '@orderflow/envelope'
import {
  headerOf,
  type LogReader,
  type LogRecord,
  positionText,
  type RecordPosition,
  recordAt,
  recordTime,
  type Span,
} from '@orderflow/kafka-log'
import { digestOf, unread } from '../../stream/dead-letters/dead-letter.ts'
import { type DeadLetter, type ReplayNote, readRecord } from '../../stream/dead-letters/dead-letter-record.ts'
import { deadLetterHeaders, keyBytes } from '../../stream/log/record.ts'
import { whileHandling } from '../../telemetry/context.ts'
import { contractMask } from '../../telemetry/mask.ts'
import { signatureHeader } from '../../trust/trust.ts'

/**
 * Reads the records of a dead-letter topic in order, including those of other applications.
 * @param spans the parts of partitions to read; by default, the whole topic
 */
export async function* readDeadLetterTopic(log: LogReader, topic: string, spans?: Span[]) {
  for await (const records of log.read(topic, spans ?? (await log.spans(topic)))) yield* records.map(readRecord)
}

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
  return { key: keyBytes(headerOf(deadLetter, deadLetterHeaders.key)) ?? deadLetter.key, headers }
}

/** The end offset of each partition at the time when the dead letters were listed. The keys have the form `topic/partition`. */
export type ReadUpTo = ReadonlyMap<string, bigint>

const partitionText = (topic: string, partition: number) => `${topic}/${partition}`

/** Reads the notes that replays wrote after the offsets `readUpTo`. Without `readUpTo`, it reads all notes. */
export function followNotes(log: LogReader, readUpTo: ReadUpTo = new Map()) {
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
    async catchUp(topics: Iterable<string>): Promise<void> {
      for (const topic of new Set(topics)) await readOn(deadLetterTopic(topic))
    },
    /** Returns the newest note about a failed record. Notes about other records at the same position are ignored. */
    noteOf: ({ position, record }: { position: RecordPosition; record: string | undefined }): ReplayNote | undefined =>
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

export async function deadLetterTopics(log: LogReader): Promise<string[]> {
  return (await log.topics()).filter((topic) => topic.endsWith(suffix))
}
