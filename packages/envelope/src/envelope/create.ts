import { hash } from 'node:crypto'
import { parse, v4 } from 'uuid'
import { newestType, partsOf } from '../schemas/schemas.ts'
import type { Envelope, EventName, EventOf, EventType, PayloadOf, ReceivedEnvelope } from '../schemas/types.ts'
import { eventFault, limitFault, together } from '../validation/check.ts'
import { refuse } from '../validation/problems.ts'
import { withLowerCaseIds, withLowerCasePayload } from './parse.ts'

/** The input for a new event. `type` determines the type of `payload`. All ids are GUIDs. */
export interface NewEvent<T extends EventType | EventName> {
  /** The publishing application: AppId, which never changes, and AppName. */
  app: { id: string; name: string }
  /** Name and Version, such as `Name@1`, or a name alone for its newest version. The payload must match its schema. */
  type: T
  payload: PayloadOf<T>
  /** The time of the event. It is written as ISO 8601 in UTC with milliseconds. */
  creationDate: Date
  /** Default: a new UUID v4. Derive it from the cause, so that a retry publishes the same event. */
  id?: string | undefined
  /** Default: the trace id. For a reaction, pass the CorrelationId of its cause. */
  correlationId?: string | undefined
  /** Default: a new UUID v4. For a reaction, pass the TraceId of its cause. */
  traceId?: string | undefined
  /** TenantID and TenantUserID; an empty one is left out. For a reaction, pass the tenant of its cause. */
  tenant?: Tenant | undefined
  headers?: Record<string, unknown> | undefined
}

/**
 * Returns a full envelope. Its fields always have the same order, so the same event has the same bytes. GUIDs are in lower case, as
 * receivers convert them.
 * @throws {EnvelopeError} if it breaks the rules for publishers (schemas/envelope.full.json, schemas/events/, check.ts)
 */
export function createEnvelope<T extends EventType | EventName>(event: NewEvent<T>): Envelope & EventOf<T> {
  const { Name, Version } = partsOf(newestType(event.type))
  const traceId = event.traceId ?? v4()
  const envelope = {
    ...(event.headers && { Headers: event.headers }),
    Id: event.id ?? v4(),
    CorrelationId: event.correlationId ?? traceId,
    TraceId: traceId,
    AppId: event.app.id,
    AppName: event.app.name,
    Version,
    Name,
    CreationDate: event.creationDate.toJSON(), // null for an invalid date; toISOString would throw a RangeError
    Payload: event.payload,
    ...(event.tenant?.id && { TenantID: event.tenant.id }),
    ...(event.tenant?.userId && { TenantUserID: event.tenant.userId }),
  }
  refuse(together(limitFault(envelope), eventFault(envelope, 'full')))
  return withLowerCasePayload(withLowerCaseIds(envelope as Envelope)) as Envelope & EventOf<T>
}

/** The tenant and user of an action. Both are empty for an action without a tenant. */
export interface Tenant {
  /** TenantID: an organisation. Other tenants must not see its data. */
  id: string
  /** TenantUserID: the user within the tenant. */
  userId: string
}

/** The tenant of an action without a tenant. */
export const noTenant: Tenant = { id: '', userId: '' }

export function tenantOf({
  TenantID: id = '',
  TenantUserID: userId = '',
}: Pick<ReceivedEnvelope, 'TenantID' | 'TenantUserID'>): Tenant {
  return { id, userId }
}

/** Namespace of every derived id (RFC 9562, section 6.6). Never change it: all derived ids would change. */
const namespace = parse('4563ec1f-497b-4618-baf9-8485edb38c08')

/**
 * Returns a GUID (UUID v5, lower case) that depends only on `kind` and `parts`. `kind` separates the ids of different things. The parts are
 * joined as a JSON list, so `('a', 'b')` and `('a,b')` have different ids.
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

/** The parts of a Kafka record that determine its derived ids, as bytes. An empty key is treated as absent. */
export interface RecordContent {
  value: Uint8Array
  key?: Uint8Array | undefined
}

/** The position of a record. `offset` is a 64-bit number of Kafka; as a text it has all digits. */
export interface Origin {
  topic: string
  partition: number | string
  offset: number | string
}

/** The source of missing ids: the record's content, or its position for records that version 0.1.0 handled (ADR 32). */
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
 * Returns the full variant of a received envelope. A missing Id derives from the source, so every receiver and every redelivery has the
 * same Id. A missing CorrelationId has the value of TraceId, and a missing TraceId that of CorrelationId. If both are missing, they derive
 * from the source. Existing ids stay unchanged.
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
 * Returns the id of a Kafka record, even if its value is not an event. Copies of the record with the same timestamp have the same id.
 * @param timestamp the record's time in milliseconds since 1970
 */
export function recordId(record: RecordContent & { timestamp: number }): string {
  const [value, key] = contentParts(record)
  return deterministicId('record', value, key, String(record.timestamp))
}
