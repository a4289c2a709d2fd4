import { hash } from 'node:crypto'
import { parse, v4 } from 'uuid'
import { newestType, partsOf } from '../schemas/schemas.ts'
import type { Envelope, EventName, EventOf, EventType, PayloadOf, ReceivedEnvelope } from '../schemas/types.ts'
import { eventFault, limitFault, together } from '../validation/check.ts'
import { refuse } from '../validation/problems.ts'
import { withLowerCaseIds, withLowerCasePayload } from './parse.ts'

/** Input for a new event. The type of `payload` follows from `type`. All ids are GUIDs. */
export interface NewEvent<T extends EventType | EventName> {
  /** The publishing application: AppId, which never changes, and AppName. */
  app: { id: string; name: string }
  /** The event's name, which stands for its newest version, or Name and Version, such as `Name@1`. The payload must fit the schema. */
  type: T
  payload: PayloadOf<T>
  /** When the event happened; written as ISO 8601 in UTC with milliseconds. */
  creationDate: Date
  /** Default: a new UUID v4. Give one that derives from the cause, so that a retry publishes the same event. */
  id?: string | undefined
  /** Default: the trace id. A reaction gives its cause's. */
  correlationId?: string | undefined
  /** Default: a new UUID v4. A reaction gives its cause's. */
  traceId?: string | undefined
  /** For whom: TenantID and TenantUserID, each left out when empty. A reaction gives its cause's. */
  tenant?: Tenant | undefined
  headers?: Record<string, unknown> | undefined
}

/**
 * Returns a full envelope. Its fields are always in the same order, so that the same event is the same bytes. GUIDs are in lower
 * case, as every receiver sees them.
 * @throws {EnvelopeError} if it breaks the rules of a publisher (schemas/envelope.full.json, schemas/events/, check.ts)
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
    CreationDate: event.creationDate.toJSON(), // null for an invalid date, where toISOString throws a RangeError
    Payload: event.payload,
    ...(event.tenant?.id && { TenantID: event.tenant.id }),
    ...(event.tenant?.userId && { TenantUserID: event.tenant.userId }),
  }
  refuse(together(limitFault(envelope), eventFault(envelope, 'full')))
  return withLowerCasePayload(withLowerCaseIds(envelope as Envelope)) as Envelope & EventOf<T>
}

/** The tenant and user for whom an action runs. Both are empty for an action without a tenant. */
export interface Tenant {
  /** TenantID: an organisation, whose data others must not see. */
  id: string
  /** TenantUserID: the user within the tenant. */
  userId: string
}

/** The tenant of an action without a tenant. */
export const noTenant: Tenant = { id: '', userId: '' }

/** Returns the tenant that an envelope names. */
export function tenantOf({
  TenantID: id = '',
  TenantUserID: userId = '',
}: Pick<ReceivedEnvelope, 'TenantID' | 'TenantUserID'>): Tenant {
  return { id, userId }
}

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
