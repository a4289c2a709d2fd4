import {
  completeEnvelope,
  type Envelope,
  type IdSource,
  isGuid,
  parseGuid,
  parseMoment,
  type ReceivedEnvelope,
} from '@orderflow/envelope'
import { isoTime } from '@orderflow/kafka-log'
import type { EventRow, RecordPosition } from '../api/events.ts'
import type { Body } from '../index/record.ts'
import type { Kind } from './kind.ts'

export interface Indexed {
  seq: number
  position: RecordPosition
  /** Arrival in milliseconds since 1970. */
  at: number
  bytes: number
  kind: Kind
  body: Body
}

function createdAt(document: unknown): string | null {
  const { CreationDate } = Object(document) as { CreationDate?: unknown }
  return typeof CreationDate === 'string' && parseMoment(CreationDate) ? CreationDate : null
}

export function rowOf({ position, at, bytes, kind, body }: Omit<Indexed, 'seq'>): EventRow {
  const { name, version, appId, appName, variant, validity, problem } = kind
  return {
    position,
    at: isoTime(at),
    createdAt: createdAt(body.document),
    name,
    version,
    ...indexedIds(body),
    appId,
    appName,
    variant,
    validity,
    problem,
    bytes,
    of: body.of ?? null,
  }
}

const guidIn = (value: unknown): string | undefined => (isGuid(value) ? value.toLowerCase() : undefined)

export type EventIds = Pick<EventRow, 'id' | 'correlationId' | 'traceId' | 'causationId'>

type Named = Partial<Record<'Id' | 'CorrelationId' | 'TraceId', unknown>> & { Headers?: unknown }

export function indexedIds({ document, ids }: Pick<Body, 'document' | 'ids'>): EventIds {
  const { Headers, ...own } = Object(document) as Named
  if (!ids) return idsOf({ ...own, Headers }, none)
  const [Id, CorrelationId, TraceId] = ids
  return idsOf({ Id, CorrelationId, TraceId, Headers }, none)
}
const none: IdSource = { value: new Uint8Array() }

/** Returns the ids that receivers use for a document: those in its envelope, or ids derived from its record. */
export function idsOf(document: unknown, source: IdSource): EventIds {
  const { Id, CorrelationId, TraceId, Headers } = Object(document) as Named
  const { CausationId } = Object(Headers) as { CausationId?: unknown }
  const causationId = parseGuid(CausationId) ?? null
  const [id, correlationId, traceId] = [guidIn(Id), guidIn(CorrelationId), guidIn(TraceId)]
  if (id && correlationId && traceId) return { id, correlationId, traceId, causationId }
  const own = {
    ...(id && { Id: id }),
    ...(correlationId && { CorrelationId: correlationId }),
    ...(traceId && { TraceId: traceId }),
  }
  const ids: Pick<Envelope, 'Id' | 'CorrelationId' | 'TraceId'> = completeEnvelope(own as ReceivedEnvelope, source)
  return { id: ids.Id, correlationId: ids.CorrelationId, traceId: ids.TraceId, causationId }
}

/**
 * Returns a document's ids as lower-case GUIDs with hyphens. Reads every spelling, because a search also finds events
 * whose ids have a spelling that receivers refuse.
 */
export function spelledIds(document: unknown): string[] {
  const { Id, CorrelationId, TraceId } = Object(document) as Named
  return [Id, CorrelationId, TraceId].flatMap((id) => parseGuid(id) ?? [])
}

/** Returns the GUIDs in fields of the Payload, but at most `most`. */
export function payloadGuids(document: unknown, most = 12): string[] {
  const { Payload } = Object(document) as { Payload?: unknown }
  const guids: string[] = []
  for (const value of Object.values(Object(Payload))) {
    const guid = guids.length < most ? parseGuid(value) : undefined
    if (guid) guids.push(guid)
  }
  return guids
}
