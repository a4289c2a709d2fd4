import { isUtf8 } from 'node:buffer'
import {
  EnvelopeError,
  eventTypes,
  type IdSource,
  isGuid,
  mayShow,
  type Problem,
  parseEnvelope,
  parseEvent,
  parseGuid,
  type ReceivedEnvelope,
  selectEvent,
} from '@orderflow/envelope'
import { headerOf, type LogRecord, positionText } from '@orderflow/kafka-log'
import {
  contractMask,
  deadLetterHeaders,
  keyBytes,
  mayShowKey,
  originOf,
  readRecord,
  replayedFrom,
  signatureHeader,
  signatureIn,
  type Trust,
  UntrustedError,
  whileHandling,
} from '@orderflow/service-kit/log'
import type { RecordPosition, Validity } from '../api/events.ts'
import type { Body } from '../index/record.ts'
import type { Kind } from '../model/kind.ts'
import { documentIn, maskDocument } from '../model/masked.ts'
import { type EventIds, idsOf, payloadGuids, spelledIds } from '../model/row.ts'
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

interface Verdict {
  validity: Validity
  faults: Problem[]
  /** The problem that all records of the kind share, if it differs from the first fault. */
  shared?: Problem
  /** Undefined if the record is not JSON. */
  document: unknown
}

const maxFaults = 100

type Judge = Pick<Trust, 'requireTrusted'>

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

/**
 * Reads a record as a receiver does.
 * @param trust by default, every publisher is trusted
 */
export function eventVerdict(
  record: Pick<LogRecord, 'topic' | 'value' | 'headers'> & Partial<Pick<LogRecord, 'appendedAt'>>,
  trust: Judge = { requireTrusted() {} },
): Verdict {
  const { topic, value, appendedAt = Number.NaN } = record
  try {
    const envelope = parseEnvelope(value)
    const event = selectEvent(envelope, eventTypes)
    if (!event) return { validity: 'foreign', faults: [], document: envelope }
    const signature = record.headers.length > 0 ? signatureIn(headerOf(record, signatureHeader)) : undefined
    trust.requireTrusted(topic, event, { value, signature, appendedAt })
    return { validity: 'valid', faults: [], document: event }
  } catch (error) {
    const document = documentIn(value.toString())
    if (error instanceof UntrustedError) {
      return { validity: 'untrusted', faults: [{ pointer: '', message: contractMask.text(error.message) }], document }
    }
    if (!(error instanceof EnvelopeError)) throw error
    return { validity: error.code, faults: allProblems(value, error), document }
  }
}

function allProblems(value: Uint8Array, first: EnvelopeError): Problem[] {
  if (first.code !== 'not-an-envelope') return first.problems
  try {
    parseEvent(value)
    return first.problems
  } catch (error) {
    return error instanceof EnvelopeError ? error.problems : first.problems
  }
}

function deadLetterVerdict(deadRecord: ReturnType<typeof readRecord>, record: LogRecord): Verdict {
  const document = documentIn(record.value.toString())
  if (deadRecord.kind === 'note') return { validity: 'replay-note', faults: [], document: undefined }
  if (deadRecord.kind !== 'dead-letter') return { validity: 'other', faults: [], document }
  const problems = deadLetterProblems(record)
  const [first, ...rest] = problems ?? []
  const [reason, app] = [deadRecord.reason, deadRecord.app].map((word) => (/^[\w.-]+$/.test(word) ? word : '***'))
  const shared = {
    ...(first ?? { pointer: '' }),
    message: `${reason} in ${app}${first ? `: ${first.message}` : ''}`,
  }
  if (problems) return { validity: 'dead-letter', faults: [shared, ...rest], document }
  // Excludes a sentence of the app from the kind, because it may contain values of the event.
  const detail = headerOf(record, deadLetterHeaders.detail) ?? ''
  const sentence = whileHandling(record.value, () => contractMask.text(detail))
  const fault = { pointer: '', message: sentence ? `${shared.message}: ${sentence}` : shared.message }
  return { validity: 'dead-letter', faults: [fault], shared, document }
}

/** Returns the list of problems that the app reported, or undefined if the app reported a sentence instead. */
function deadLetterProblems(record: LogRecord): Problem[] | undefined {
  try {
    const problems: unknown = JSON.parse(headerOf(record, deadLetterHeaders.detail) ?? '')
    const isProblem = (one: unknown): one is Problem =>
      ['pointer', 'message'].every((name) => typeof (Object(one) as Record<string, unknown>)[name] === 'string')
    return Array.isArray(problems) ? problems.filter(isProblem).slice(0, maxFaults) : undefined
  } catch {
    return undefined
  }
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

function kindOf(topic: string, verdict: Verdict): Kind {
  const { AppId, AppName, Name, Version, Id, CorrelationId, TraceId } = Object(
    verdict.document,
  ) as Partial<ReceivedEnvelope>
  const isFull = Boolean(Id && CorrelationId && TraceId)
  const problem = verdict.shared ?? verdict.faults[0]
  // Excludes objects from the cache key, because objects can be nested to any depth.
  const identity = [AppId, AppName, Name, Version].map((one) => (typeof one === 'object' ? null : one))
  const key = JSON.stringify([topic, verdict.validity, isFull, problem?.pointer, problem?.message, ...identity])
  const made = madeKinds.get(key)
  if (made) return made
  const kind = newKind(topic, verdict)
  // Publishers choose the keys of the cache, so their number has a limit.
  if (madeKinds.size >= maxMadeKinds) madeKinds.clear()
  if (key.length < 1_000) madeKinds.set(key, kind)
  return kind
}

function newKind(topic: string, { validity, faults, shared, document }: Verdict): Kind {
  const { AppId, AppName, Name, Version, Id, CorrelationId, TraceId } = Object(document) as Partial<ReceivedEnvelope>
  const isEnvelope = document !== undefined && Name !== undefined
  return {
    topic,
    name: nameOf('Name', Name),
    // JSON can contain numbers that are too large for a 64-bit double.
    version: typeof Version === 'number' && Number.isFinite(Version) ? Version : null,
    appId: isGuid(AppId) ? AppId.toLowerCase() : null,
    appName: nameOf('AppName', AppName),
    variant: isEnvelope ? (Id && CorrelationId && TraceId ? 'full' : 'reduced') : null,
    validity,
    problem: shared ?? faults[0] ?? null,
  }
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
