import { deterministicId, type FullEvent } from '@orderflow/envelope-schema'

/** The stored document, which the API returns. */
export interface SparePart {
  id: string
  thingId: string
  /** The time of the event, ISO 8601. */
  createdAt: string
  /** The id of the event. The next two fields are the ids of its conversation and its trace. */
  causationId: string
  correlationId: string
  traceId: string
}

/** Returns the document's id. It is derived from the ThingId, because there is only one document for each ThingId. */
export const sparePartIdOf = (thingId: string): string => deterministicId('spare-part', thingId)

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

/** Returns the earlier of two documents. The order of arrival does not matter, because events arrive in any order and repeatedly. */
export function earlier(known: SparePart | undefined, other: SparePart): SparePart {
  return known && rankOf(known) <= rankOf(other) ? known : other
}

/** Returns the sort key: the time, then the content. */
const rankOf = (item: SparePart) => new Date(item.createdAt).toISOString() + JSON.stringify(item)

/** A refused request for an unknown id. The event for this id may arrive later. */
export class SparePartError extends Error {
  readonly code = 'not-found'
}
