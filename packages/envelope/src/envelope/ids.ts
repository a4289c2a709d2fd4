import { hash } from 'node:crypto'
import { parse } from 'uuid'
import type { Envelope, ReceivedEnvelope } from '../schemas/types.ts'

/** Namespace of every derived id (RFC 9562, section 6.6). Random once, fixed for ever: another one gives other ids. */
const namespace = parse('4563ec1f-497b-4618-baf9-8485edb38c08')

/**
 * Returns a GUID (UUID v5, lower case) that is the same whenever `kind` and `parts` are the same. `kind` separates the ids of
 * different things. The parts are joined as a JSON list: `('a', 'b')` and `('a,b')` give different ids.
 */
export function deterministicId(kind: string, ...parts: string[]): string {
  const digest = hash('sha1', Buffer.concat([namespace, Buffer.from(JSON.stringify([kind, ...parts]))]), 'hex')
  const variant = '89ab'[Number.parseInt(digest.charAt(16), 16) % 4]
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `5${digest.slice(13, 16)}`,
    `${variant}${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join('-')
}

/** The parts of a Kafka record from which its ids derive, as bytes. An empty key is the same as no key. */
export interface RecordContent {
  value: Uint8Array
  key?: Uint8Array | undefined
}

/** The position of a record. `offset` is Kafka's 64-bit number; its text holds all digits. */
export interface Origin {
  topic: string
  partition: number | string
  offset: number | string
}

/** Source of missing ids: the record's content, or its position for records that version 0.1.0 handled (ADR 32). */
export type IdSource = RecordContent | Origin

const sha256 = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex')

function contentParts({ value, key }: RecordContent): [value: string, key: string] {
  return [sha256(value), key === undefined || key.byteLength === 0 ? '' : sha256(key)]
}

function derivedId(kind: 'event' | 'trace', source: IdSource): string {
  if (!('value' in source)) return deterministicId(kind, source.topic, `${source.partition}`, `${source.offset}`)
  const [value, key] = contentParts(source)
  return deterministicId(kind, value, key)
}

/**
 * Returns the full variant of a received envelope. A missing Id derives from the source, so it is the same for every receiver
 * and every redelivery. CorrelationId and TraceId stand in for one another, and derive from the source if both are
 * missing. Existing ids stay as they are.
 */
export function completeEnvelope<E extends ReceivedEnvelope>(envelope: E, source: IdSource): E & Envelope {
  const { Id, CorrelationId, TraceId } = envelope
  if (Id !== undefined && CorrelationId !== undefined && TraceId !== undefined) return envelope as E & Envelope
  const trace = TraceId ?? CorrelationId ?? derivedId('trace', source)
  return {
    ...envelope,
    Id: Id ?? derivedId('event', source),
    CorrelationId: CorrelationId ?? trace,
    TraceId: trace,
  }
}

/**
 * Returns the id of one Kafka record, whatever its value holds. Copies of the record have the same id as long as they keep its time.
 * @param timestamp the record's time in milliseconds since 1970
 */
export function recordId(record: RecordContent & { timestamp: number }): string {
  const [value, key] = contentParts(record)
  return deterministicId('record', value, key, String(record.timestamp))
}
