import { deterministicId } from '@orderflow/envelope-schema'
import { entity, facts } from '@orderflow/service-kit'

/** A spare part, as the API shows it. */
export interface SparePart {
  id: string
  thingId: string
  /** The time of the event, in ISO 8601. */
  createdAt: string
  /** The Id of the event, and the ids of its conversation and its trace. */
  causationId: string
  correlationId: string
  traceId: string
}

/** Derives the id from the ThingId, because there is one spare part for each ThingId. */
export const sparePartIdOf = (thingId: string): string => deterministicId('spare-part', thingId)

/** A spare part keeps the earliest SomethingHappened of its ThingId. It publishes no events yet. */
export const sparePart = entity({
  name: 'spare-part',
  id: ({ ThingId }) => sparePartIdOf(ThingId),
  events: [],
  ...facts(['SomethingHappened']),
  view({ SomethingHappened: event }, id): SparePart | undefined {
    if (!event) return undefined
    return {
      id,
      thingId: event.Payload.ThingId,
      createdAt: event.CreationDate,
      causationId: event.Id,
      correlationId: event.CorrelationId,
      traceId: event.TraceId,
    }
  },
})
