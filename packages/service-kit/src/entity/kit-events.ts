import {
  createEnvelope,
  deterministicId,
  type EventName,
  type FullEvent,
  noTenant,
  type PayloadOf,
} from '@orderflow/envelope'
import type { Origin } from './document.ts'

/** The payload of the event that a time has passed. */
export interface DeadlinePassed {
  Entity: string
  EntityId: string
  /** The name of the deadline or schedule. */
  Deadline: string
  Due: string
}

/** The event of a deadline that has passed. A service that has deadlines publishes and consumes it. */
export const deadlinePassed = 'DeadlinePassed' as EventName

/** The payload of the event that a call has an outcome. */
export interface CallAnswered {
  Entity: string
  EntityId: string
  Call: string
  Attempt: string
  /** `unknown` asks a person, who replays the event with another outcome. `again` asks for another try. */
  Outcome: 'done' | 'refused' | 'unknown' | 'again'
  Code?: string
  Reason?: string
  Answer?: object
}

/** The event of a call that has an outcome. A service that calls others publishes and consumes it. */
export const callAnswered = 'CallAnswered' as EventName

/**
 * Returns an event of the kit about an entity. It continues the entity's conversation, or begins one.
 * @param parts the parts from which the event's Id derives. The first one is the type of the id
 * @param origin the conversation and owner of the entity
 */
export function kitEvent(
  app: { id: string; name: string },
  type: EventName,
  [kind, ...parts]: readonly [string, ...string[]],
  payload: DeadlinePassed | CallAnswered,
  { creationDate, origin }: { creationDate: Date; origin?: Origin | undefined },
): FullEvent {
  // biome-ignore lint/plugin/no-spread-arguments: an id has at most nine parts
  const id = deterministicId(kind, ...parts)
  const traceId = origin?.traceId ?? id
  const tenant = origin ? { id: origin.tenant ?? '', userId: origin.user ?? '' } : noTenant
  return createEnvelope({
    ...{ app, type, id, correlationId: origin?.correlationId ?? traceId, traceId, tenant, creationDate },
    payload: payload as unknown as PayloadOf<EventName>,
  }) as FullEvent
}
