import { deterministicId, type FullEvent } from '@orderflow/envelope-schema'

/** What is kept, and what the API shows. */
export interface SparePart {
  id: string
  thingId: string
  /** ISO 8601. */
  createdAt: string
  /** Id of the event that it came of, and the conversation and trace that the event belongs to. */
  causationId: string
  correlationId: string
  traceId: string
}

/** There is one for each ThingId, so the one id follows from the other. */
export const sparePartIdOf = (thingId: string): string => deterministicId('spare-part', thingId)

/** Makes the document of an event. */
export function sparePartOf(event: FullEvent<'SomethingHappened'>): SparePart {
  const { ThingId: thingId } = event.Payload
  return {
    id: sparePartIdOf(thingId),
    thingId,
    createdAt: event.CreationDate,
    causationId: event.Id,
    correlationId: event.CorrelationId,
    traceId: event.TraceId,
  }
}

/**
 * Which of two to keep: the earlier one, whichever came first, since events arrive in any order, and more than once.
 */
export function earlier(known: SparePart | undefined, other: SparePart): SparePart {
  return known && rankOf(known) <= rankOf(other) ? known : other
}

/** By time, then by what they say. */
const rankOf = (item: SparePart) => new Date(item.createdAt).toISOString() + JSON.stringify(item)

/** A request that breaks a rule of this service: `not-found` when nothing is known of what it asks for (yet). */
export class SparePartError extends Error {
  readonly code = 'not-found'
}
