import { isGuid } from '../schemas/guid.ts'
import { bundleOf, schemaBase } from '../schemas/schema-documents.ts'
import { partsOf, payloadSchemas, typeOf } from '../schemas/schemas.ts'
import type { ReceivedEnvelope } from '../schemas/types.ts'
import { isObject } from '../validation/check.ts'
import { EnvelopeError } from '../validation/problems.ts'
import { completeEnvelope, deterministicId, type IdSource } from './create.ts'
import { decode } from './parse.ts'

/** A CloudEvent (CloudEvents 1.0.2) as an object. Structured mode writes it as JSON. */
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

/** Removes attributes that are undefined or null (JSON format 1.0.2, 2.2). Only `data` may be null (3.1.1). */
function withoutUnset<E extends object>(event: E): E {
  const isSet = ([name, value]: [string, unknown]) => (name === 'data' ? value !== undefined : value != null)
  return Object.fromEntries(Object.entries(event).filter(isSet)) as E
}

/** Characters that a CloudEvents String must not contain (CloudEvents 1.0.2, type system). */
const notInStrings = /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/gu
const shown = (text: string): string => text.replaceAll(notInStrings, '\ufffd')

/**
 * Returns a CloudEvent whose `data` is the whole envelope. Its attributes repeat fields of the envelope for routers and filters, and
 * contain no personal data.
 * @param source the record's value and key, which determine a missing Id
 * @throws {TypeError} if both Id and source are missing
 */
export function toCloudEvent(envelope: ReceivedEnvelope, source?: IdSource): CloudEvent {
  const { Id, CorrelationId } = source ? completeEnvelope(envelope, source) : envelope
  if (Id === undefined) throw new TypeError('the envelope has no Id: pass its record as source to derive an Id')
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

/** Matches a `traceparent` of W3C Trace Context. A version after 00 may have more fields. */
const traceparentForm = /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/

/**
 * Returns the envelope of a CloudEvent, but does not validate the envelope. A CloudEvent from `toCloudEvent` contains the envelope as `data`.
 *
 * In other CloudEvents, `data` is the Payload. Name and Version come from `type` (`Name@Version`; default Version 1). Id and AppId come from `id` and
 * `source`. A value that is not a GUID is converted to a UUID v5. TraceId comes from `traceparent`. `Headers.CloudEvent` contains the original `id`,
 * `source`, `type` and `dataschema`, and all extension attributes except `correlationid` and `traceparent`.
 */
export function fromCloudEvent(event: CloudEvent): Record<string, unknown> {
  const { specversion: _, id, source, type, time, datacontenttype, dataschema, data, ...others } = withoutUnset(event)
  if (isObject(data) && Object.hasOwn(data, 'Payload')) return data as Record<string, unknown>
  const { correlationid, traceparent, ...kept } = others
  const [, traceId] = traceparentForm.exec(String(traceparent)) ?? []
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

function refuseCloudEvent(message: string, hint: string): never {
  throw new EnvelopeError({ code: 'not-an-envelope', problems: [{ pointer: '', message, hint }] })
}

/** A Kafka record or an HTTP request. The body is the record's value or the request's body. */
export interface CloudEventMessage {
  headers: Record<string, string>
  body: string
}

interface Binding {
  prefix: string
  write: (text: string) => string
  read: (text: string) => string
}

/**
 * Rules for writing attributes as headers in binary mode. HTTP percent-encodes all characters except visible ASCII, and also `"` and `%` (HTTP
 * binding 1.0.2, 3.1.3.2). Kafka writes UTF-8 (Kafka binding 1.0.2, 3.2.3).
 */
const bindings = {
  kafka: { prefix: 'ce_', write: (text) => text, read: (text) => text },
  http: {
    prefix: 'ce-',
    write: (text) => text.replaceAll(/[^!#$&-~]/gu, encodeURIComponent).replaceAll('"', '%22'),
    read: percentDecoded,
  },
} satisfies Record<string, Binding>

/** Reads a header as the HTTP binding (1.0.2, 3.1.3.2) requires: removes quotes (RFC 7230), then decodes percent signs. */
function percentDecoded(text: string): string {
  const [, quoted] = /^"((?:[^"\\]|\\.)*)"$/s.exec(text) ?? []
  const unquoted = quoted === undefined ? text : quoted.replaceAll(/\\(.)/gs, '$1')
  try {
    return decodeURIComponent(unquoted.replaceAll(/%(?![\da-f]{2})/gi, '%25'))
  } catch {
    return refuseCloudEvent('has a header that is not UTF-8', 'percent-encode the UTF-8 bytes of a text')
  }
}

const structured = 'application/cloudevents+json'

/** Returns a message in structured mode, whose body is the whole CloudEvent. */
export function structuredMessage(event: CloudEvent): CloudEventMessage {
  return { headers: { 'content-type': `${structured}; charset=utf-8` }, body: JSON.stringify(event) }
}

/** Returns a message in binary mode: attributes are headers, and `data` is the body. */
export function binaryMessage(event: CloudEvent, kind: keyof typeof bindings): CloudEventMessage {
  const { prefix, write } = bindings[kind]
  const { data, datacontenttype = 'application/json', ...attributes } = withoutUnset(event)
  const headers = Object.entries(attributes).map(([name, value]) => [`${prefix}${name}`, write(String(value))])
  return {
    headers: { ...Object.fromEntries(headers), 'content-type': datacontenttype },
    body: data === undefined ? '' : JSON.stringify(data),
  }
}

/** Matches the name of an attribute (CloudEvents 1.0.2, naming conventions). */
const attributeName = /^[a-z\d]+$/

/**
 * Returns the CloudEvent of a message in either mode. `data` must be JSON.
 * @param headers headers by name, in lower case; headers without a value are ignored
 * @throws {EnvelopeError} `not-utf8`, `not-json`, or `not-an-envelope` for a message that is not a CloudEvent
 */
export function cloudEventOf(
  { headers, body }: { headers: Record<string, string | null | undefined>; body: Uint8Array },
  kind: keyof typeof bindings,
): CloudEvent {
  const { prefix, read } = bindings[kind]
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase()
  if (type === structured) return complete(withDecodedData(decode(body)))
  if (headers[`${prefix}specversion`] == null) {
    refuseCloudEvent('is not a CloudEvent', `give the header ${prefix}specversion, or content-type: ${structured}`)
  }
  const attributes = Object.entries(headers)
    .filter(([name]) => name.startsWith(prefix) && attributeName.test(name.slice(prefix.length)))
    .map(([name, value]) => [name.slice(prefix.length), value == null ? undefined : read(value)])
  const { data: _, ...own } = Object.fromEntries(attributes) as Record<string, unknown>
  return complete({ ...own, ...(type && { datacontenttype: type }), ...(body.length > 0 && { data: decode(body) }) })
}

/** Decodes `data_base64` (JSON format 1.0.2, 3.1). */
function withDecodedData(event: unknown): unknown {
  if (!isObject(event)) return event
  const { data_base64: encoded, ...others } = event as Record<string, unknown>
  if (encoded == null) return others
  if (others.data != null) refuseCloudEvent('has both data and data_base64', 'send one of them')
  const isBase64 = typeof encoded === 'string' && encoded.length % 4 === 0 && /^[a-z\d+/]*={0,2}$/i.test(encoded)
  if (!isBase64) return refuseCloudEvent('has data_base64 that is not base64', 'encode the bytes as base64 (RFC 4648)')
  return { ...others, data: decode(Buffer.from(encoded, 'base64')) }
}

/**
 * Checks the required attributes (CloudEvents 1.0.2).
 * @throws {EnvelopeError} `not-an-envelope`
 */
function complete(event: unknown): CloudEvent {
  const given = (isObject(event) ? event : {}) as Record<string, unknown>
  for (const name of ['id', 'source', 'type']) {
    const value = given[name]
    if (typeof value !== 'string' || value === '') refuseCloudEvent(`has no ${name}`, 'every CloudEvent has one')
  }
  if (given.specversion !== '1.0') refuseCloudEvent('is a CloudEvent of another version', 'send specversion 1.0')
  return withoutUnset(given as unknown as CloudEvent)
}
