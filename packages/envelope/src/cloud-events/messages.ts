import { decode } from '../envelope/decode.ts'
import { isObject } from '../validation/limits.ts'
import { type CloudEvent, refuseCloudEvent, withoutUnset } from './cloud-events.ts'

/** A record of Kafka or a request of HTTP: headers by name, and the value or body. */
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
 * How attributes become headers in binary mode. HTTP writes what is no visible ASCII, `"` and `%` as percent-encoded UTF-8 (HTTP binding
 * 1.0.2, 3.1.3.2), Kafka all as UTF-8 (Kafka binding 1.0.2, 3.2.3).
 */
const bindings = {
  kafka: { prefix: 'ce_', write: (text) => text, read: (text) => text },
  http: {
    prefix: 'ce-',
    write: (text) => text.replaceAll(/[^!#$&-~]/gu, encodeURIComponent).replaceAll('"', '%22'),
    read: percentDecoded,
  },
} satisfies Record<string, Binding>

/** Reads a header as the HTTP binding says (1.0.2, 3.1.3.2): first a quoted string of RFC 7230, if it is one, then percent-encoded UTF-8. */
function percentDecoded(text: string): string {
  const [, quoted] = /^"((?:[^"\\]|\\.)*)"$/s.exec(text) ?? []
  const unquoted = quoted === undefined ? text : quoted.replaceAll(/\\(.)/gs, '$1')
  try {
    return decodeURIComponent(unquoted.replaceAll(/%(?![\da-f]{2})/gi, '%25'))
  } catch {
    return refuseCloudEvent('has a header that is no UTF-8', 'percent-encode the UTF-8 bytes of a text')
  }
}

const structured = 'application/cloudevents+json'

/** A CloudEvent in structured mode: all of it is the body. The same for Kafka and HTTP. */
export function structuredMessage(event: CloudEvent): CloudEventMessage {
  return { headers: { 'content-type': `${structured}; charset=utf-8` }, body: JSON.stringify(event) }
}

/** A CloudEvent in binary mode: `data` is the body, which is empty without it; the attributes that are set are headers. */
export function binaryMessage(event: CloudEvent, kind: keyof typeof bindings): CloudEventMessage {
  const { prefix, write } = bindings[kind]
  const { data, datacontenttype = 'application/json', ...attributes } = withoutUnset(event)
  const headers = Object.entries(attributes).map(([name, value]) => [`${prefix}${name}`, write(String(value))])
  return {
    headers: { ...Object.fromEntries(headers), 'content-type': datacontenttype },
    body: data === undefined ? '' : JSON.stringify(data),
  }
}

/** What follows the prefix in a header's name: an attribute has lower-case letters and digits alone (CloudEvents 1.0.2, naming conventions). */
const attributeName = /^[a-z\d]+$/

/**
 * The CloudEvent that a message is, in either mode. `data` must be JSON. In binary mode it is the body, and no header replaces it.
 * @param headers by name, in lower case; one without a value is none
 * @throws {EnvelopeError} `not-utf8`, `not-json`, or `not-an-envelope` when it is no CloudEvent
 */
export function cloudEventOf(
  { headers, body }: { headers: Record<string, string | null | undefined>; body: Uint8Array },
  kind: keyof typeof bindings,
): CloudEvent {
  const { prefix, read } = bindings[kind]
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase()
  if (type === structured) return complete(withDecodedData(decode(body)))
  if (headers[`${prefix}specversion`] == null) {
    refuseCloudEvent('is no CloudEvent', `give the header ${prefix}specversion, or content-type: ${structured}`)
  }
  const attributes = Object.entries(headers)
    .filter(([name]) => name.startsWith(prefix) && attributeName.test(name.slice(prefix.length)))
    .map(([name, value]) => [name.slice(prefix.length), value == null ? undefined : read(value)])
  const { data: _, ...own } = Object.fromEntries(attributes) as Record<string, unknown>
  return complete({ ...own, ...(type && { datacontenttype: type }), ...(body.length > 0 && { data: decode(body) }) })
}

/** A CloudEvent in structured mode, whose `data` may be bytes in base64 (JSON format 1.0.2, 3.1). */
function withDecodedData(event: unknown): unknown {
  if (!isObject(event)) return event
  const { data_base64: encoded, ...others } = event as Record<string, unknown>
  if (encoded == null) return others
  if (others.data != null) refuseCloudEvent('has both data and data_base64', 'send one of them')
  const isBase64 = typeof encoded === 'string' && encoded.length % 4 === 0 && /^[a-z\d+/]*={0,2}$/i.test(encoded)
  if (!isBase64) return refuseCloudEvent('has data_base64 that is no base64', 'encode the bytes as RFC 4648 has it')
  return { ...others, data: decode(Buffer.from(encoded, 'base64')) }
}

/** With what every CloudEvent has (CloudEvents 1.0.2, required attributes). */
function complete(event: unknown): CloudEvent {
  const given = (isObject(event) ? event : {}) as Record<string, unknown>
  for (const name of ['id', 'source', 'type']) {
    const value = given[name]
    if (typeof value !== 'string' || value === '') refuseCloudEvent(`has no ${name}`, 'every CloudEvent has one')
  }
  if (given.specversion !== '1.0') refuseCloudEvent('is a CloudEvent of another version', 'send specversion 1.0')
  return withoutUnset(given as unknown as CloudEvent)
}
