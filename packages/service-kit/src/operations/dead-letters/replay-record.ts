import {
  completeEnvelope,
  describeProblem,
  type Envelope,
  EnvelopeError,
  envelopeErrorCodes,
  isGuid,
  parseEnvelope,
  parseEvent,
  requireExactFields,
} from '@orderflow/envelope'
import { keyFields, keyOf } from '@orderflow/envelope/kafka'
import { ourFaults } from '../../stream/fault.ts'
import { idSourceOf, positionText, type RecordPosition, replayedFrom, replayedRecord } from '../../stream/record.ts'
import { signatureHeader, type Trust, UntrustedError } from '../../trust/trust.ts'
import { headerOf, type LogReader, type LogRecord } from '../log-reader.ts'
import { type Attempt, recordOf } from './entries.ts'
import { type FailedEvent, lost, readEvent } from './records.ts'

/** A record that is ready to be published. */
export interface ReplayRecord {
  /** Position where its event first was. It is published to that topic and partition. */
  origin: RecordPosition
  /** Position of the record that failed, as text, and its id. */
  of: string
  record: string | undefined
  /** Identifies that record (`recordOf`). */
  failed: string
  edited: boolean
  key: Buffer | undefined
  value: Buffer
  headers: LogRecord['headers']
  /** Position of its record, as text, if an interrupted replay published it and only its note is missing. */
  publishedAs?: string
}

interface ReplayRecordOptions {
  /** Bytes to publish instead of the event's own. */
  edited: Uint8Array | undefined
  trust: Trust
  /** Id of the record that failed first (`Entry.record`). */
  first: string | undefined
  /** See `momentOf`. */
  positionIdsBefore: number | undefined
}

/**
 * Makes the record that replays an attempt, with the headers that it had, or returns why it must not be replayed. It has the key of the
 * attempt, or the one that follows from an edit (`keyAfter`). An event of our services gets a new signature if it was edited, or is older
 * than the time since when services sign.
 */
export async function makeReplayRecord(
  log: LogReader,
  attempt: Attempt,
  { edited, trust, first, positionIdsBefore }: ReplayRecordOptions,
): Promise<ReplayRecord | { why: string[] }> {
  const { position, origin, record, reason, deadLetterPosition } = attempt
  // The partition of the origin must exist: a client may use partition 0 instead of a missing 99.
  if (!(await log.has(origin))) return { why: [`there is no partition ${origin.partition} of ${origin.topic}`] }
  const event = await readEvent(log, attempt)
  if (!event) return { why: [`the dead letter is not at ${positionText(deadLetterPosition)} any more`] }
  const bytes = edited ?? event.value
  if (!bytes) return { why: [lost] }
  const key = edited ? keyAfter(event, edited, origin.topic) : event.key
  const value = withKnownIds(bytes, { event, key, origin, positionIdsBefore })
  const signature = headerOf(event, signatureHeader)
  const isVouchedFor = edited !== undefined || (signature === undefined && !trust.asksForSignature(event.appendedAt))
  const checked = checkReplay(
    { topic: origin.topic, value, reason: edited ? undefined : reason, signature, isVouchedFor },
    trust,
  )
  if ('why' in checked) return checked
  const replaced = [replayedFrom, replayedRecord, ...(isVouchedFor ? [signatureHeader] : [])]
  const headers = event.headers.filter(([name]) => !replaced.includes(name.toString()))
  headers.push(header(replayedFrom, positionText(origin)))
  if (first !== undefined) headers.push(header(replayedRecord, first))
  if (isVouchedFor && checked.signature) headers.push(header(signatureHeader, checked.signature))
  return {
    origin,
    of: positionText(position),
    record,
    failed: recordOf(attempt),
    edited: edited !== undefined,
    key,
    value: Buffer.from(value),
    headers,
  }
}

const header = (name: string, text: string): LogRecord['headers'][number] => [Buffer.from(name), Buffer.from(text)]

/** Reasons that are decided again, by the current schemas and trust file. */
const replayableReasons: ReadonlySet<string> = new Set([...envelopeErrorCodes, 'untrusted', ...ourFaults])

/** Returns whether an event with this reason may be replayed unchanged. With any other reason it contradicts the service's data. */
export const isReplayable = (reason: string): boolean => replayableReasons.has(reason)

/** An event that is to be replayed. */
interface ReplayedEvent {
  topic: string
  value: Uint8Array
  /** Reason of the dead letter; undefined for an event that was edited. */
  reason: string | undefined
  /** Signature of the record that failed. */
  signature: string | undefined
  /** Whether the operator vouches for it. Then an event of our services is signed with the operator's key. */
  isVouchedFor: boolean
}

/** Returns why a replayed event would become a dead letter again, in one line for each problem; otherwise the signature to send with it. */
export function checkReplay(
  { topic, value, reason, signature, isVouchedFor }: ReplayedEvent,
  trust: Trust,
): { why: string[] } | { signature: string | undefined } {
  try {
    const event = parseEvent(value)
    requireExactFields(event, value)
    if (reason !== undefined && !isReplayable(reason)) {
      return { why: [`${reason}: it contradicts what the service knows, and will again unless it is edited`] }
    }
    const signed = isVouchedFor ? trust.vouch(event, value) : signature
    trust.requireTrusted(topic, event, { value, signature: signed, appendedAt: Date.now() })
    return { signature: signed }
  } catch (error) {
    if (error instanceof UntrustedError) return { why: [`${error.code}: ${error.message}`] }
    if (!(error instanceof EnvelopeError)) throw error
    return { why: error.problems.map((problem) => `${error.code}: ${describeProblem(problem)}`) }
  }
}

const names = ['Id', 'CorrelationId', 'TraceId'] as const satisfies (keyof Envelope)[]

/**
 * Returns the key of an edited event. A key that is derived from the Payload, by the key fields of the topic, is derived again from the
 * edited Payload. A publisher's own key stays, and so does the key on a topic that services.json does not declare.
 */
function keyAfter({ key, value }: FailedEvent, edited: Uint8Array, topic: string): Buffer | undefined {
  const fields = keyFields(undefined, topic)
  const isDerived = key?.toString() === keyOf(documentIn(value), fields)
  const derived = isDerived ? keyOf(documentIn(edited), fields) : undefined
  return derived === undefined ? key : Buffer.from(derived)
}

interface KnownIdsOptions {
  /** The event that failed. */
  event: FailedEvent
  /** The key to replay it under. */
  key: Buffer | undefined
  origin: RecordPosition
  /** See `momentOf`. */
  positionIdsBefore: number | undefined
}

/**
 * Returns the bytes to replay. They are the given bytes, unless receivers would derive other ids from them than from the event
 * that failed (it was edited, or its ids derive from its position). Then the known ids are written into the envelope.
 */
function withKnownIds(
  bytes: Uint8Array,
  { event: { value, key: failedKey, arrivedAt }, key, origin, positionIdsBefore }: KnownIdsOptions,
): Uint8Array {
  const begin = bytes.indexOf('{'.charCodeAt(0))
  const envelope = parsed(bytes)
  if (!envelope || (value === undefined && !(arrivedAt < (positionIdsBefore ?? Number.NEGATIVE_INFINITY)))) return bytes
  const source = (record: Pick<Parameters<typeof idSourceOf>[0], 'value' | 'key' | 'arrivedAt'>) =>
    idSourceOf({ ...record, origin }, positionIdsBefore)
  const failed = { value: value ?? bytes, key: failedKey, arrivedAt }
  const known = completeEnvelope({ ...idsIn(value), ...envelope }, source(failed))
  const derived = completeEnvelope(envelope, source({ value: bytes, key, arrivedAt: Date.now() }))
  const lost = names.filter((name) => known[name] !== derived[name])
  if (lost.length === 0) return bytes
  const fields = lost.map((name) => `"${name}":"${known[name]}",`).join('')
  return Buffer.concat([bytes.subarray(0, begin + 1), Buffer.from(fields), bytes.subarray(begin + 1)])
}

/** Returns the ids in an event's bytes, even if the rest is not valid. */
function idsIn(value: Uint8Array | undefined): Partial<Pick<Envelope, (typeof names)[number]>> {
  const document = Object(documentIn(value)) as Record<string, unknown>
  return Object.fromEntries(
    names.flatMap((name) => (isGuid(document[name]) ? [[name, String(document[name]).toLowerCase()]] : [])),
  )
}

/** Returns the JSON document in the bytes; undefined if there is none. */
export function documentIn(value: Uint8Array | undefined): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(value))
  } catch {
    return undefined
  }
}

/** Returns the envelope in the bytes; undefined if there is none. */
function parsed(bytes: Uint8Array) {
  try {
    return parseEnvelope(bytes)
  } catch {
    return undefined
  }
}
