import { createHash } from 'node:crypto'
import { deadLetterTopic, deterministicId, parseEnvelope, type ReceivedEnvelope, recordId } from '@orderflow/envelope'
import {
  type DeadLetter,
  deadLetterHeaders,
  headerOf,
  type LogRecord,
  originOf,
  positionText,
  type RecordPosition,
  type ReplayNote,
  readRecord,
  replayedFrom,
} from '@orderflow/service-kit/log'
import { noteHeaders, replayedRecord } from '@orderflow/service-kit/operations'
import { signatureHeader } from '@orderflow/service-kit/trust'
import type { CopiedRecord, Counts } from '@orderflow/stack/internals'
import type { Offsets } from './offsets.ts'

export interface Translated extends CopiedRecord {
  /** The changes that the summary counts. */
  changes: readonly Change[]
}

export type Change = 'ids' | 'signature' | 'no-envelope'

export interface TranslatorOptions {
  /** The offsets of both logs. A translation needs the offsets of all earlier records of the topic, and for a dead letter those of its topic. */
  offsets: Offsets
  /** Returns a record of the old log, if the log still has it. */
  at: (position: RecordPosition) => Promise<LogRecord | undefined>
  /** Returns the new signature of an event; undefined if the event keeps its headers. */
  sign?: (event: ReceivedEnvelope, old: LogRecord, value: Buffer) => string | undefined
}

export interface Translator {
  event(record: LogRecord): Promise<Translated>
  /** Translates a record of a dead-letter topic. */
  deadLetter(record: LogRecord): Promise<Translated>
}

/** Translates records of version 0.1.0: it writes derived ids into envelopes, changes positions, and adds headers that version 0.1.0 did not have. */
export function createTranslator({ offsets, at, sign }: TranslatorOptions): Translator {
  /** The new ids of failed records, by their old position. */
  const failures = new Map<string, string>()

  async function event(record: LogRecord): Promise<Translated> {
    const origin = originIn(record)
    const envelope = envelopeIn(record.value)
    const value = envelope ? withIds(record.value, envelope, origin) : record.value
    const signature = envelope && sign?.(envelope, record, value)
    const changes: Change[] = [
      ...(value === record.value ? [] : (['ids'] as const)),
      ...(signature === undefined ? [] : (['signature'] as const)),
      ...(envelope ? [] : (['no-envelope'] as const)),
    ]
    const { key, timestamp } = record
    const replaced = {
      ...(await replayHeaders(record, origin)),
      ...(signature === undefined ? {} : { [signatureHeader]: signature }),
    }
    return { key, value, timestamp, headers: withHeaders(record.headers, replaced), changes }
  }

  async function replayHeaders(record: LogRecord, origin: RecordPosition): Promise<Headers> {
    if (positionText(origin) === positionText(positionOf(record))) return {}
    const first = await idAt(origin)
    return { [replayedFrom]: first && offsets.text(origin), [replayedRecord]: first }
  }

  /** Returns the new id of an old record; undefined if the log has deleted the record. */
  async function idAt(position: RecordPosition): Promise<string | undefined> {
    const record = offsets.has(position) ? await at(position) : undefined
    return record && idOf(record)
  }

  async function deadLetter(record: LogRecord): Promise<Translated> {
    const read = readRecord(record)
    if (read.kind === 'dead-letter') return await failure(record, read)
    const { key, value, timestamp } = record
    const headers = read.kind === 'note' ? withHeaders(record.headers, await noteOf(read)) : record.headers
    return { key, value, timestamp, headers, changes: [] }
  }

  async function failure(record: LogRecord, read: DeadLetter): Promise<Translated> {
    const { app, position, origin } = read
    const failed = await failedRecord(record, position)
    const moved = failed && (await event(failed))
    const isCut = headerOf(record, deadLetterHeaders.cut) !== undefined
    const envelope = envelopeIn(record.value)
    const value = envelope ? withIds(record.value, envelope, origin) : record.value
    const id = moved ? recordId(moved) : deletedId(position)
    failures.set(positionText(position), id)
    const isFirst = positionText(origin) === positionText(position)
    const first = isFirst ? id : (failures.get(positionText(origin)) ?? (await idAt(origin)) ?? deletedId(origin))
    const { partition, offset } = offsets.moved(origin)
    const replaced = {
      [deadLetterHeaders.id]: deterministicId('dead-letter', app, origin.topic, first),
      [deadLetterHeaders.partition]: String(partition),
      [deadLetterHeaders.offset]: offset,
      [deadLetterHeaders.replayed]: headerOf(record, deadLetterHeaders.replayed) && offsets.text(position),
      [deadLetterHeaders.record]: id,
      [deadLetterHeaders.arrived]: String((moved ?? record).timestamp),
      ...(isCut && moved && { [deadLetterHeaders.cut]: digestOf(moved.value) }),
      ...(moved?.changes.includes('signature') && { [signatureHeader]: headerOf(moved, signatureHeader) }),
    }
    return {
      key: record.key,
      value,
      timestamp: record.timestamp,
      headers: withHeaders(record.headers, replaced),
      changes: value === record.value ? [] : ['ids'],
    }
  }

  /** Returns the record of a dead letter. After the topic was created again, another record may have this position. */
  async function failedRecord(deadLetter: LogRecord, position: RecordPosition): Promise<LogRecord | undefined> {
    const record = offsets.has(position) ? await at(position) : undefined
    const digest = headerOf(deadLetter, deadLetterHeaders.cut) ?? digestOf(deadLetter.value)
    return record && digestOf(record.value) === digest ? record : undefined
  }

  async function noteOf({ of, as }: ReplayNote): Promise<Headers> {
    return {
      [noteHeaders.of]: offsets.text(of),
      [noteHeaders.as]: offsets.text(as),
      [noteHeaders.ofRecord]: failures.get(positionText(of)) ?? (await idAt(of)) ?? deletedId(of),
      [noteHeaders.asRecord]: (await idAt(as)) ?? deletedId(as),
    }
  }

  /** Adds the offset of a record before its translation. */
  const adding = (translate: Translator['event']) => (record: LogRecord) => {
    offsets.add(record)
    return translate(record)
  }
  return { event: adding(event), deadLetter: adding(deadLetter) }
}

/** Returns the translation of a topic's records, and the counts of its changes. */
export function changesIn(
  topic: string,
  translator: Translator,
): { translate: Translator['event']; changes: Record<Change, number> } {
  const changes = { ids: 0, signature: 0, 'no-envelope': 0 }
  const translate = topic.endsWith(deadLetterTopic('')) ? translator.deadLetter : translator.event
  return {
    changes,
    translate: async (record) => {
      const translated = await translate(record)
      for (const change of translated.changes) changes[change] += 1
      return translated
    },
  }
}

export function summaryOf(
  topic: string,
  { read, written, before }: Counts,
  changes: Readonly<Record<Change, number>>,
): string {
  const details = [
    [before, 'were written by an earlier run'],
    [changes.ids, 'got the ids that version 0.1.0 derived'],
    [changes.signature, 'got a new signature'],
    [changes['no-envelope'], 'are not envelopes, and are unchanged'],
  ] as const
  const parts = details.filter(([count]) => count > 0).map(([count, text]) => `, ${count} ${text}`)
  return `${topic}: ${read} read, ${written} written${parts.join('')}`
}

const positionOf = ({ topic, partition, offset }: LogRecord) => ({ topic, partition, offset: String(offset) })

const originIn = (record: LogRecord) => originOf(positionOf(record), headerOf(record, replayedFrom))

function envelopeIn(value: Buffer): ReceivedEnvelope | undefined {
  try {
    return parseEnvelope(value)
  } catch {
    return undefined
  }
}

/** Returns an id for a record that the log has deleted. A dead letter with an id is never assigned to another record at the same position. */
const deletedId = (position: RecordPosition): string => deterministicId('deleted-record', positionText(position))

/** Returns the id that the new version derives from the new record of an old record. */
function idOf(record: LogRecord): string {
  const envelope = envelopeIn(record.value)
  const value = envelope ? withIds(record.value, envelope, originIn(record)) : record.value
  return recordId({ ...record, value })
}

/**
 * Writes the ids that version 0.1.0 derived from an event's position into the bytes of its envelope. All other bytes stay unchanged. A missing
 * CorrelationId or TraceId is a copy of the other.
 */
export function withIds(
  value: Buffer,
  envelope: ReceivedEnvelope,
  { topic, partition, offset }: RecordPosition,
): Buffer {
  const derived = (kind: 'event' | 'trace') => deterministicId(kind, topic, String(partition), offset)
  const trace = envelope.TraceId ?? envelope.CorrelationId ?? derived('trace')
  const ids = { Id: derived('event'), CorrelationId: trace, TraceId: trace }
  const missing = Object.entries(ids).filter(([name]) => envelope[name as keyof typeof ids] === undefined)
  if (missing.length === 0) return value
  const begin = value.indexOf('{') + 1
  const fields = missing.map(([name, id]) => `"${name}":"${id}",`).join('')
  return Buffer.concat([value.subarray(0, begin), Buffer.from(fields), value.subarray(begin)])
}

const digestOf = (value: Uint8Array): string => createHash('sha256').update(value).digest('hex')

/** Headers to set. An undefined value removes the header. */
type Headers = Record<string, string | undefined>

function withHeaders(headers: LogRecord['headers'], replaced: Headers): LogRecord['headers'] {
  const others = headers.filter(([name]) => !Object.hasOwn(replaced, name.toString()))
  const set = Object.entries(replaced).flatMap(([name, text]): LogRecord['headers'] =>
    text === undefined ? [] : [[Buffer.from(name), Buffer.from(text)]],
  )
  return [...others, ...set]
}
