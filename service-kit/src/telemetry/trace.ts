import { randomUUID } from 'node:crypto'

/** Version ff and ids of zeros are not valid. Version 00 has 55 characters; a later one may go on after a hyphen. */
const traceparent = /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-|$)/

/**
 * The envelope's TraceId for an incoming W3C `traceparent`: the same 32 hex digits, written as a GUID.
 * Undefined when the header is missing or not valid (https://www.w3.org/TR/trace-context/).
 */
export function traceIdFrom(header: string | undefined): string | undefined {
  const hex = traceparent.exec(header ?? '')?.[1]
  return hex?.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/**
 * A sampled `traceparent` with a new span id, in the trace that a GUID TraceId names. Undefined for one that names no trace, such
 * as a GUID of zeros: a header that is not valid makes receivers begin a trace of their own, and so does none; an id of ours in its
 * place would tie the event to a trace that its TraceId does not lead to. The span id is the second half of a UUID v4: never zero,
 * and much cheaper than eight random bytes, since Node keeps UUIDs in stock.
 */
export function traceparentOf(traceId: string): string | undefined {
  const header = `00-${hexOf(traceId).toLowerCase()}-${hexOf(randomUUID()).slice(16)}-01`
  return traceparent.test(header) ? header : undefined
}

const hexOf = (guid: string) => guid.replaceAll('-', '')
