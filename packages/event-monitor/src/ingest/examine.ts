import { isUtf8 } from 'node:buffer'
import { type IdSource, isGuid, mayShow, parseGuid, type ReceivedEnvelope } from '@orderflow/envelope'
import { headerOf, type LogRecord, positionText } from '@orderflow/kafka-log'
import { deadLetterHeaders, keyBytes, mayShowKey, originOf, readRecord, replayedFrom } from '@orderflow/service-kit/log'
import type { RecordPosition } from '../api/events.ts'
import type { Body } from '../index/record.ts'
import type { Kind } from '../model/kind.ts'
import { maskDocument } from '../model/masked.ts'
import { type EventIds, idsOf, payloadGuids, spelledIds } from '../model/row.ts'
import { deadLetterVerdict, eventVerdict, type Judge, maxFaults, type Verdict } from '../model/verdict.ts'
import type { Rules } from './rules.ts'

/** The parts of a record that the index stores. They contain no personal data. */
export interface Examined {
  kind: Kind
  ids: EventIds
  /**
   * Texts that find the record: its ids, its key if the key may be shown, and GUIDs in fields that the contract names.
   */
  guids: Set<string>
  body: Body
  sharedId: string | null
}

/**
 * Decodes and validates a record, checks its publisher, and masks its values. An unexpected error becomes a fault of
 * this record.
 */
export function examine(
  record: LogRecord,
  trust: Judge,
  rules: Pick<Rules, 'sharedIdOf' | 'keyFields'> = { sharedIdOf: () => null, keyFields: () => [] },
): Examined {
  const position: RecordPosition = { topic: record.topic, partition: record.partition, offset: String(record.offset) }
  try {
    return examineAt(position, record, { trust, rules })
  } catch (error) {
    const faults = [{ pointer: '', message: `event-monitor cannot read it: ${(error as Error).name}` }]
    const ids = idsOf(undefined, record)
    return {
      kind: kindOf(record.topic, { validity: 'not-an-envelope', faults, document: undefined }),
      ids,
      guids: guidsOf(ids, undefined, null, undefined),
      sharedId: null,
      body: { document: undefined, ids: tripleOf(ids), note: `(${record.value.length} bytes)`, faults },
    }
  }
}

function examineAt(
  position: RecordPosition,
  record: LogRecord,
  { trust, rules: { sharedIdOf, keyFields } }: { trust: Judge; rules: Pick<Rules, 'sharedIdOf' | 'keyFields'> },
): Examined {
  const { topic } = record
  const deadRecord = topic.endsWith('.dead') ? readRecord(record) : undefined
  const verdict: Verdict = deadRecord ? deadLetterVerdict(deadRecord, record) : eventVerdict(record, trust)
  const origin =
    deadRecord?.kind === 'dead-letter'
      ? deadRecord.origin
      : originOf(position, record.headers.length > 0 ? headerOf(record, replayedFrom) : undefined)
  const ids = idsOf(verdict.document, sourceOf(record, deadRecord, origin))
  const { document, masked } = maskDocument(verdict.document)
  const isKeyShown = record.key !== undefined && mayShowKey(record.key, keyFields(origin.topic), verdict.document)
  const key = record.key === undefined ? null : isKeyShown ? record.key.toString() : maskedKey(record.key)
  const of =
    deadRecord?.kind === 'dead-letter' ? deadRecord.position : deadRecord?.kind === 'note' ? deadRecord.of : undefined
  const body: Body = { document }
  const hasOwnIds = hasIds(verdict.document)
  if (!hasOwnIds) body.ids = tripleOf(ids)
  if (document === undefined) body.note = noteOf(record.value)
  if (masked.length > 0) body.masked = masked
  if (key !== null) body.key = key
  if (record.headers.length > 0) body.headers = shownHeaders(record.headers)
  if (verdict.faults.length > 0) body.faults = verdict.faults.slice(0, maxFaults)
  if (origin !== position) body.origin = origin
  if (of) body.of = of
  if (deadRecord?.kind === 'dead-letter' && deadRecord.arrivedAt !== undefined) body.ofAt = deadRecord.arrivedAt
  if (deadRecord?.kind === 'note') Object.assign(body, { as: deadRecord.as, edited: deadRecord.edited })
  return {
    kind: kindOf(topic, verdict),
    ids,
    guids: guidsOf(ids, document, isKeyShown ? key : null, of, hasOwnIds ? [] : spelledIds(document)),
    sharedId: verdict.validity === 'valid' ? sharedIdOf(verdict.document, topic) : null,
    body,
  }
}

const tripleOf = ({ id, correlationId, traceId }: EventIds): [string, string, string] => [id, correlationId, traceId]

function hasIds(document: unknown): boolean {
  const { Id, CorrelationId, TraceId } = Object(document) as Partial<ReceivedEnvelope>
  return isGuid(Id) && isGuid(CorrelationId) && isGuid(TraceId)
}

/**
 * Returns the data from which missing ids derive. For a note, or a dead letter without its event, this is a position.
 * For other dead letters, it is their event.
 */
function sourceOf(
  record: LogRecord,
  deadRecord: ReturnType<typeof readRecord> | undefined,
  origin: RecordPosition,
): IdSource {
  if (deadRecord?.kind !== 'dead-letter') {
    return deadRecord?.kind === 'note' ? origin : record
  }
  if (headerOf(record, deadLetterHeaders.cut) !== undefined) return origin
  return { value: record.value, key: keyBytes(headerOf(record, deadLetterHeaders.key)) ?? record.key }
}

function noteOf(value: Buffer): string {
  return value.length === 0
    ? '(nothing: a tombstone)'
    : `(${value.length} bytes that are not JSON, or more than can be shown)`
}

const nameOf = (field: string, value: unknown): string | null =>
  typeof value === 'string' && mayShow(field, value)
    ? value
    : typeof value === 'string'
      ? `*** (${value.length} characters)`
      : null

/** Caches kinds, because most events have one of a few kinds. */
const madeKinds = new Map<string, Kind>()
const maxMadeKinds = 5_000

function kindOf(topic: string, { validity, faults, shared, document }: Verdict): Kind {
  const { AppId, AppName, Name, Version, Id, CorrelationId, TraceId } = Object(document) as Partial<ReceivedEnvelope>
  const isFull = Boolean(Id && CorrelationId && TraceId)
  const problem = shared ?? faults[0] ?? null
  // Excludes objects from the cache key, because objects can be nested to any depth.
  const identity = [AppId, AppName, Name, Version].map((one) => (typeof one === 'object' ? null : one))
  const key = JSON.stringify([topic, validity, isFull, problem?.pointer, problem?.message, ...identity])
  const made = madeKinds.get(key)
  if (made) return made
  const kind: Kind = {
    topic,
    name: nameOf('Name', Name),
    // JSON can contain numbers that are too large for a 64-bit double.
    version: typeof Version === 'number' && Number.isFinite(Version) ? Version : null,
    appId: isGuid(AppId) ? AppId.toLowerCase() : null,
    appName: nameOf('AppName', AppName),
    variant: Name === undefined ? null : isFull ? 'full' : 'reduced',
    validity,
    problem,
  }
  // Publishers choose the keys of the cache, so their number has a limit.
  if (madeKinds.size >= maxMadeKinds) madeKinds.clear()
  if (key.length < 1_000) madeKinds.set(key, kind)
  return kind
}

function maskedKey(key: Buffer): string {
  return isUtf8(key) ? `*** (${key.toString().length} characters)` : `*** (${key.length} bytes)`
}

/** @param key the record's key, or null if it must stay hidden */
function guidsOf(
  ids: EventIds,
  document: unknown,
  key: string | null,
  of: RecordPosition | undefined,
  spelled: string[] = [],
): Set<string> {
  const guids = new Set([ids.id, ids.correlationId, ids.traceId, ...payloadGuids(document), ...spelled])
  if (ids.causationId) guids.add(ids.causationId)
  if (key !== null) guids.add(parseGuid(key) ?? key)
  if (of) guids.add(positionText(of))
  return guids
}

const open =
  /^(traceparent|caused-at|replayed-(from|record)|replay-of(-record)?|replayed-as(-record)?|replay-edited|accepted-(by|position|record)|deadletter-(id|reason|app|topic|partition|offset|time|record|arrived|replay|cut|stored))$/
const plainValue = /^[\w./:+-]{1,256}$/
const plainName = /^[\w.-]{1,64}$/

/** Replaces the values of unknown headers by their lengths. */
function shownHeaders(headers: LogRecord['headers']): { name: string; value: string }[] {
  return headers.slice(0, 50).map(([name, value]) => {
    const text = isUtf8(name) ? name.toString() : ''
    const shown = open.test(text) && isUtf8(value) ? value.toString() : ''
    return {
      name: plainName.test(text) ? text : `*** (${name.length} bytes)`,
      value: plainValue.test(shown) ? shown : `*** (${value.length} bytes)`,
    }
  })
}
