import { completeEnvelope, deterministicId, type IdSource } from '../envelope/ids.ts'
import { partsOf, typeOf } from '../schemas/event-type.ts'
import { isGuid } from '../schemas/guid.ts'
import { bundleOf, schemaBase } from '../schemas/schema-documents.ts'
import { payloadSchemas } from '../schemas/schemas.ts'
import type { ReceivedEnvelope } from '../schemas/types.ts'
import { EnvelopeError } from '../validation/error.ts'
import { isObject } from '../validation/limits.ts'

/**
 * A CloudEvent (CloudEvents 1.0.2) as an object, which is what the structured mode writes as JSON. Names of attributes are lower-case
 * letters and digits of ASCII.
 */
export interface CloudEvent {
  specversion: '1.0'
  id: string
  source: string
  type: string
  time?: string
  datacontenttype?: string
  data?: unknown
  [attribute: string]: unknown
}

/**
 * Returns a CloudEvent without the attributes that are not set: null means the same as absent (JSON format 1.0.2, 2.2). Of `data` it does
 * not: null is a value there (3.1.1).
 */
export function withoutUnset<E extends object>(event: E): E {
  const isSet = ([name, value]: [string, unknown]) => (name === 'data' ? value !== undefined : value != null)
  return Object.fromEntries(Object.entries(event).filter(isSet)) as E
}

/** What a CloudEvents String may not hold: control characters and noncharacters (CloudEvents 1.0.2, type system). */
const notInStrings = /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/gu
const shown = (text: string): string => text.replaceAll(notInStrings, '\ufffd')

/**
 * An envelope as a CloudEvent, whose `data` is the envelope itself: nothing is lost, and what is personal in it gets into no attribute,
 * and so into no header. The attributes repeat what routers and filters look at.
 * @param source the record's value and key, from which the `id` of an envelope without Id derives, as for every receiver
 * @throws {TypeError} for an envelope without Id if there is no source: a CloudEvent has an id
 */
export function toCloudEvent(envelope: ReceivedEnvelope, source?: IdSource): CloudEvent {
  const { Id, CorrelationId } = source ? completeEnvelope(envelope, source) : envelope
  if (Id === undefined) throw new TypeError('an envelope without Id needs its record to become a CloudEvent')
  const type = typeOf(envelope)
  const isFull = [envelope.Id, envelope.CorrelationId, envelope.TraceId].every((id) => id !== undefined)
  return {
    specversion: '1.0',
    id: Id,
    source: `urn:uuid:${envelope.AppId}`,
    type: shown(type),
    time: envelope.CreationDate,
    datacontenttype: 'application/json',
    ...(payloadSchemas.has(type) && { dataschema: schemaBase + bundleOf(type, isFull ? 'full' : 'received') }),
    ...(CorrelationId !== undefined && { correlationid: CorrelationId }),
    data: envelope,
  }
}

/**
 * The envelope that a CloudEvent is, to be validated like any other document. What `toCloudEvent` made is its `data`, which counts, whatever
 * the attributes say. Of a CloudEvent of somebody else `data` is the Payload, and the rest follows from the attributes: Name and Version
 * from `type` (`Name@Version`, else Version is 1), Id and AppId from `id` and `source`, by UUID v5 where they hold no GUID, TraceId from
 * `traceparent`; attributes that have no field are kept in `Headers.CloudEvent`.
 */
export function fromCloudEvent(event: CloudEvent): Record<string, unknown> {
  const { specversion: _, id, source, type, time, datacontenttype, dataschema, data, ...others } = withoutUnset(event)
  if (isObject(data) && Object.hasOwn(data, 'Payload')) return data as Record<string, unknown>
  const { correlationid, traceparent, ...kept } = others
  const [, traceId] = /^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/.exec(String(traceparent)) ?? []
  const versioned = /@\d+$/.test(type) ? partsOf(type) : { Name: type, Version: 1 }
  const appId = source.replace(/^urn:uuid:/i, '')
  return {
    Headers: { CloudEvent: { id, source, type, ...(dataschema !== undefined && { dataschema }), ...kept } },
    Id: isGuid(id) ? id : deterministicId('cloud-event', source, id),
    ...(isGuid(correlationid) && { CorrelationId: correlationid }),
    ...(traceId && { TraceId: traceId.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') }),
    AppId: isGuid(appId) ? appId : deterministicId('cloud-event-source', source),
    AppName: source,
    ...versioned,
    ...(time !== undefined && { CreationDate: time }),
    ...(data !== undefined && { Payload: data }),
  }
}

/** Throws what a sender of CloudEvents has done wrong, in the words of a refused envelope. */
export function refuseCloudEvent(message: string, hint: string): never {
  throw new EnvelopeError({ code: 'not-an-envelope', problems: [{ pointer: '', message, hint }] })
}
