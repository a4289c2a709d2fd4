import { completeEnvelope, type Envelope, isGuid, type Origin, type ReceivedEnvelope } from '@orderflow/envelope-schema'

const guidIn = (value: unknown): string | undefined => (isGuid(value) ? value.toLowerCase() : undefined)

/** By what an event is found. */
export interface EventIds {
  id: string
  correlationId: string
  traceId: string
  causationId: string | null
}

type Named = Partial<Record<'Id' | 'CorrelationId' | 'TraceId', unknown>> & { Headers?: unknown }

/** The ids that every receiver has for a document at a place: its own, or those that derive from where it first stood. */
export function idsOf(document: unknown, origin: Origin): EventIds {
  const { Id, CorrelationId, TraceId, Headers } = Object(document) as Named
  const { CausationId } = Object(Headers) as { CausationId?: unknown }
  const causationId = guidIn(CausationId) ?? null
  const [id, correlationId, traceId] = [guidIn(Id), guidIn(CorrelationId), guidIn(TraceId)]
  if (id && correlationId && traceId) return { id, correlationId, traceId, causationId }
  const own = {
    ...(id && { Id: id }),
    ...(correlationId && { CorrelationId: correlationId }),
    ...(traceId && { TraceId: traceId }),
  }
  const ids: Pick<Envelope, 'Id' | 'CorrelationId' | 'TraceId'> = completeEnvelope(own as ReceivedEnvelope, origin)
  return { id: ids.Id, correlationId: ids.CorrelationId, traceId: ids.TraceId, causationId }
}

/** The GUIDs that a document has in its payload, such as an OrderId; at most so many. */
export function payloadGuids(document: unknown, most = 12): string[] {
  const { Payload } = Object(document) as { Payload?: unknown }
  const found: string[] = []
  for (const value of Object.values(Object(Payload))) {
    if (found.length < most && isGuid(value)) found.push(value.toLowerCase())
  }
  return found
}
