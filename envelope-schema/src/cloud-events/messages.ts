import { decode } from '../envelope/decode.ts'
import { isObject } from '../validation/limits.ts'
import { type CloudEvent, refuseCloudEvent } from './cloud-events.ts'

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

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replace(/^"(.*)"$/s, '$1').replaceAll(/%(?![\da-f]{2})/gi, '%25'))
  } catch {
    return refuseCloudEvent('has a header that is no UTF-8', 'percent-encode the UTF-8 bytes of a text')
  }
}

const structured = 'application/cloudevents+json'

/** A CloudEvent in structured mode: all of it is the body. The same for Kafka and HTTP. */
export function structuredMessage(event: CloudEvent): CloudEventMessage {
  return { headers: { 'content-type': `${structured}; charset=utf-8` }, body: JSON.stringify(event) }
}

/** A CloudEvent in binary mode: `data` is the body, the attributes are headers. */
export function binaryMessage(event: CloudEvent, kind: keyof typeof bindings): CloudEventMessage {
  const { prefix, write } = bindings[kind]
  const { data, datacontenttype = 'application/json', ...attributes } = event
  const headers = Object.entries(attributes).map(([name, value]) => [`${prefix}${name}`, write(String(value))])
  return { headers: { ...Object.fromEntries(headers), 'content-type': datacontenttype }, body: JSON.stringify(data) }
}

/**
 * The CloudEvent that a message is, in either mode. `data` must be JSON.
 * @param headers by name, in lower case
 * @throws {EnvelopeError} `not-utf8`, `not-json`, or `not-an-envelope` when it is no CloudEvent
 */
export function cloudEventOf(
  { headers, body }: { headers: Record<string, string>; body: Uint8Array },
  kind: keyof typeof bindings,
): CloudEvent {
  const { prefix, read } = bindings[kind]
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase()
  if (type === structured) return complete(decode(body))
  if (headers[`${prefix}specversion`] === undefined) {
    refuseCloudEvent('is no CloudEvent', `give the header ${prefix}specversion, or content-type: ${structured}`)
  }
  const attributes = Object.entries(headers)
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, value]) => [name.slice(prefix.length), read(value)])
  return complete({ ...Object.fromEntries(attributes), ...(type && { datacontenttype: type }), data: decode(body) })
}

/** With what every CloudEvent has (CloudEvents 1.0.2, required attributes). */
function complete(event: unknown): CloudEvent {
  const given = (isObject(event) ? event : {}) as Record<string, unknown>
  for (const name of ['id', 'source', 'type']) {
    const value = given[name]
    if (typeof value !== 'string' || value === '') refuseCloudEvent(`has no ${name}`, 'every CloudEvent has one')
  }
  if (given.specversion !== '1.0') refuseCloudEvent('is a CloudEvent of another version', 'send specversion 1.0')
  const { data_base64: encoded, ...event10 } = given as unknown as CloudEvent
  return typeof encoded === 'string' ? { ...event10, data: decode(Buffer.from(encoded, 'base64')) } : event10
}
