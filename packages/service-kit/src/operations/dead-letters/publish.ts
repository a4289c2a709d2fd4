import { deadLetterTopic } from '@orderflow/envelope'
import {
  type LogReader,
  type LogRecord,
  parsePosition,
  positionText,
  type RecordPosition,
  type Span,
  whereIs,
} from '@orderflow/kafka-log'
import { findErrorBy, type Producer } from '@platformatic/kafka'
import { noteHeaders, recordIdOf } from '../../stream/log/record.ts'
import type { ReplayRecord } from './replay-record.ts'

export type Client = Producer<Buffer, Buffer, Buffer, Buffer>
type Outgoing = Parameters<Client['send']>[0]['messages'][number]

export type Published = { result: 'replayed'; as: string } | { result: 'refused'; why: string[] }

/** The broker's errors about a single record. Any other error would also occur for the next record. */
const refusals = ['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD', 'INVALID_TIMESTAMP']

/**
 * Publishes a record, unless the log already has it. Then writes the note of the replay to the dead-letter topic.
 * @param log reads the published record, to determine its id
 * @throws the Kafka client's error, if the error would also occur for other records
 */
export async function publishReplay(
  producer: Client,
  { origin: { topic, partition }, of, record: ofRecord, edited, key, value, headers, publishedAs }: ReplayRecord,
  log: Pick<LogReader, 'at'>,
): Promise<Published> {
  const record = { topic, partition, ...(key && { key }), value, headers: new Map(headers) }
  const known = parsePosition(publishedAs)
  const sent = known ?? (await send(producer, record).catch((error: Error) => refusalIn(error, topic)))
  if (!('offset' in sent)) return sent
  const as = positionText(sent)
  const asRecord = await recordAt(log, sent)
  const note = {
    [noteHeaders.of]: of,
    [noteHeaders.as]: as,
    ...(ofRecord && { [noteHeaders.ofRecord]: ofRecord }),
    ...(asRecord && { [noteHeaders.asRecord]: asRecord }),
    ...(edited && { [noteHeaders.edited]: 'true' }),
  }
  const noteBytes = Object.entries(note).map(([name, text]) => [Buffer.from(name), Buffer.from(text)] as const)
  await send(producer, { topic: deadLetterTopic(topic), value: Buffer.alloc(0), headers: new Map(noteBytes) })
  return { result: 'replayed', as }
}

/** Returns the id of the new record; undefined if the record is unreadable. The note is written in both cases. */
async function recordAt(log: Pick<LogReader, 'at'>, position: RecordPosition): Promise<string | undefined> {
  const record = await log.at(position).catch(() => undefined)
  return record && recordIdOf({ ...record, arrivedAt: record.timestamp })
}

function refusalIn(error: Error, topic: string): Published {
  const known = refusals.find((id) => findErrorBy(error, 'apiId', id))
  if (!known) throw error
  const why = known.endsWith('TOO_LARGE')
    ? `with the header of the replay, it is too large for ${topic}`
    : `${topic} refuses it: ${known}`
  return { result: 'refused', why: [why] }
}

/**
 * Publishes to all in-sync replicas and returns the record's position. The Kafka client omits the position only if it requests no acknowledgements
 * (acks: 0).
 */
async function send(producer: Client, message: Outgoing): Promise<RecordPosition> {
  const { offsets } = await producer.send({ messages: [message], acks: -1 })
  const [position] = offsets ?? []
  if (!position) throw new Error(`the Kafka client did not return the position of the record for ${message.topic}`)
  return { ...position, offset: String(position.offset) }
}

export interface ReplayIntent {
  of: string
  /** The end of the origin's partition before the replay. The offset of the new record is at least this number. */
  from: bigint
}

/** Stores the intents of replays, because a crash may leave a published record without its note. */
export interface ReplayJournal {
  /** Stores intents before their records are published. If a record already has an intent, this intent is kept. */
  begin(intents: ReplayIntent[]): void
  begun(of: string): ReplayIntent | undefined
}

export async function withIntents(log: LogReader, due: ReplayRecord[], journal: ReplayJournal) {
  const intents: ReplayIntent[] = []
  const found = new Map<ReplayRecord, string>()
  for (const [topic, own] of Map.groupBy(due, ({ origin }) => origin.topic)) {
    const spans = await log.spans(topic)
    for (const { of, origin } of own)
      intents.push({ of, from: spans.find(({ partition }) => partition === origin.partition)?.end ?? 0n })
    for (const span of spans) {
      const sought = own.flatMap((replay) => {
        const intent = replay.origin.partition === span.partition ? journal.begun(replay.of) : undefined
        return intent ? [{ replay, from: intent.from }] : []
      })
      for (const [replay, position] of await recordsOf(log, topic, span, sought)) found.set(replay, position)
    }
  }
  journal.begin(intents)
  return due.map((replay) => ({ ...replay, publishedAs: found.get(replay) }))
}

async function recordsOf(
  log: LogReader,
  topic: string,
  { partition, start, end }: Span,
  sought: { replay: ReplayRecord; from: bigint }[],
): Promise<Map<ReplayRecord, string>> {
  const found = new Map<ReplayRecord, string>()
  const first = sought.reduce((least, { from }) => (from < least ? from : least), end)
  if (first >= end) return found
  const part = { partition, start: first > start ? first : start, end }
  for await (const records of log.read(topic, [part])) {
    for (const record of records) {
      const same = sought.find(({ replay, from }) => record.offset >= from && isRecordOf(replay, record))
      if (same && !found.has(same.replay)) found.set(same.replay, whereIs(record))
    }
    if (found.size === sought.length) break
  }
  return found
}

/**
 * Returns true if a record of the log is the record of this replay. It compares bytes, key and all headers, because any publisher can write the
 * header `replayed-from`.
 */
function isRecordOf({ key, value, headers }: ReplayRecord, record: LogRecord): boolean {
  return (
    record.value.equals(value) &&
    (key === undefined ? record.key === undefined : record.key?.equals(key) === true) &&
    record.headers.length === headers.length &&
    record.headers.every(([name, text], index) => {
      const [wantedName, wantedText] = headers[index] ?? []
      return wantedName?.equals(name) && wantedText?.equals(text)
    })
  )
}
