import { v4 } from 'uuid'
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
