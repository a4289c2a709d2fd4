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
import { headerOf, type LogReader, type LogRecord, positionText, type RecordPosition } from '@orderflow/kafka-log'
import { parsedJson } from '../../json.ts'
import { ourFaults } from '../../stream/dead-letters/fault.ts'
import { replayedFrom, replayedRecord } from '../../stream/log/record.ts'
import { signatureHeader, type Trust, UntrustedError } from '../../trust/trust.ts'
import { type Attempt, recordOf } from './entries.ts'
import { type FailedEvent, lost, problemsOf, readEvent } from './records.ts'

export interface ReplayRecord {
  /** The event's origin. The new record is published to the topic and partition of the origin. */
  origin: RecordPosition
  /** The position of the failed record, as text. `record` is the failed record's id. */
  of: string
  record: string | undefined
  failed: string
  edited: boolean
  key: Buffer | undefined
  value: Buffer
  headers: LogRecord['headers']
  /** The position of the new record, as text, if an interrupted replay published the record but did not write the note. */
  publishedAs?: string | undefined
}

/**
 * Returns the record that replays an attempt. If the attempt must not be replayed, it returns the reasons. An edit may change the key (`keyAfter`).
 * An event of our services gets a new signature if it was edited, or if it was published before the services signed events.
 * @param options.first the id of the event's first failed record
 */
export async function makeReplayRecord(
  log: LogReader,
  attempt: Attempt,
  { edited, trust, first }: { edited: Uint8Array | undefined; trust: Trust; first: string | undefined },
): Promise<ReplayRecord | { why: string[] }> {
  const { position, origin, record, reason, deadLetterPosition } = attempt
  // The origin's partition must exist, because a Kafka client may publish to partition 0 instead of a missing partition.
  if (!(await log.has(origin))) return { why: [`partition ${origin.partition} of ${origin.topic} does not exist`] }
  const event = await readEvent(log, attempt)
  if (!event) return { why: [`the log has deleted the dead letter at ${positionText(deadLetterPosition)}`] }
  if (!edited && !event.value) return { why: [lost] }
  const { value, key } = replayedContent(event, edited, origin.topic)
  const signature = headerOf(event, signatureHeader)
  const isVouchedFor = edited !== undefined || (signature === undefined && !trust.asksForSignature(event.appendedAt))
  const problems = problemsOf(event, false)
  const checked = checkReplay(
    { topic: origin.topic, value, reason: edited ? undefined : reason, problems, signature, isVouchedFor },
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

/** Returns the value and key with which a replay publishes a failed event. Without a value and an edit, the value is empty. */
export function replayedContent(
  failed: Pick<FailedEvent, 'key' | 'value'>,
  edited: Uint8Array | undefined,
  topic: string,
): { value: Uint8Array; key: Buffer | undefined } {
  const key = edited ? keyAfter(failed, edited, topic) : failed.key
  return { value: withKnownIds(edited ?? failed.value ?? new Uint8Array(), failed, key), key }
}

const header = (name: string, text: string): LogRecord['headers'][number] => [Buffer.from(name), Buffer.from(text)]

/** The reasons of dead letters whose events may be valid now. A replay checks the event again, with the current schemas, trust file and code. */
const replayableReasons: ReadonlySet<string> = new Set([...envelopeErrorCodes, 'untrusted', ...ourFaults])

/**
 * Returns true if an event with this reason may be replayed unchanged. All other reasons are rules of a service, which would refuse the event again.
 */
export const isReplayable = (reason: string): boolean => replayableReasons.has(reason)

interface ReplayedEvent {
  topic: string
  value: Uint8Array
  /** The reason of the dead letter; undefined for an edited event. */
  reason: string | undefined
  /** The problems in the dead letter's detail, without personal data. */
  problems?: string[]
  signature: string | undefined
  /** True if the operator vouches for the event. An event of our services then gets the operator's signature. */
  isVouchedFor: boolean
}

/** Returns the event's signature. If the event would become a dead letter again, returns the reasons, with one line for each problem. */
export function checkReplay(
  { topic, value, reason, problems = [], signature, isVouchedFor }: ReplayedEvent,
  trust: Trust,
): { why: string[] } | { signature: string | undefined } {
  try {
    const event = parseEvent(value)
    requireExactFields(event, value)
    if (reason !== undefined && !isReplayable(reason)) {
      const rule = 'a rule of the service refuses the event; edit it before you replay it'
      return { why: [`${reason}: ${[...problems.filter(Boolean), rule].join('; ')}`] }
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
 * Returns the key of an edited event. A key that derives from the Payload is derived from the edited Payload. Any other key stays the same, such as a
 * key that the publisher chose, or a key on an undeclared topic.
 */
function keyAfter({ key, value }: Pick<FailedEvent, 'key' | 'value'>, edited: Uint8Array, topic: string) {
  const fields = keyFields(undefined, topic)
  const isDerived = key?.toString() === keyOf(documentIn(value), fields)
  const derived = isDerived ? keyOf(documentIn(edited), fields) : undefined
  return derived === undefined ? key : Buffer.from(derived)
}

/**
 * Returns the bytes to replay. Receivers derive missing ids from the bytes. If the ids would change, the failed event's ids are written into the
 * envelope of the new record.
 */
function withKnownIds(
  bytes: Uint8Array,
  { value, key: failedKey }: Pick<FailedEvent, 'key' | 'value'>,
  key: Buffer | undefined,
): Uint8Array {
  const begin = bytes.indexOf('{'.charCodeAt(0))
  const envelope = parsed(bytes)
  if (!envelope || value === undefined) return bytes
  const known = completeEnvelope({ ...idsIn(value), ...envelope }, { value, key: failedKey })
  const derived = completeEnvelope(envelope, { value: bytes, key })
  const lost = names.filter((name) => known[name] !== derived[name])
  if (lost.length === 0) return bytes
  const fields = lost.map((name) => `"${name}":"${known[name]}",`).join('')
  return Buffer.concat([bytes.subarray(0, begin + 1), Buffer.from(fields), bytes.subarray(begin + 1)])
}

/** Returns the ids in an event's bytes, even if other parts are invalid. */
function idsIn(value: Uint8Array): Partial<Pick<Envelope, (typeof names)[number]>> {
  const document = Object(documentIn(value)) as Record<string, unknown>
  return Object.fromEntries(
    names.flatMap((name) => (isGuid(document[name]) ? [[name, String(document[name]).toLowerCase()]] : [])),
  )
}

export const documentIn = (value: Uint8Array | undefined): unknown => parsedJson(new TextDecoder().decode(value))

function parsed(bytes: Uint8Array) {
  try {
    return parseEnvelope(bytes)
  } catch {
    return undefined
  }
}
