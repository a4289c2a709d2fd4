import { randomBytes } from 'node:crypto'

/** A record as an application outside writes it. */
export interface OutgoingRecord {
  topic: string
  key: string | undefined
  value: Uint8Array
  headers?: Record<string, string>
}

/**
 * The partition key of an event: the field of its Payload that says what it is about, so that all events of it stay in order.
 * Undefined when it has none, and no record needs one.
 */
export function keyOf(document: unknown, field = 'OrderId'): string | undefined {
  const payload = (document as { Payload?: Record<string, unknown> } | null)?.Payload
  const key =
    typeof payload === 'object' && payload !== null && Object.hasOwn(payload, field) ? payload[field] : undefined
  return typeof key === 'string' || typeof key === 'number' ? String(key) : undefined
}

/**
 * The W3C trace headers of a full envelope: its TraceId, a span of the publisher's, and that the trace is to be recorded. None of
 * one without a TraceId.
 */
export function traceHeaders(document: unknown): Record<string, string> {
  const id = (document as { TraceId?: unknown } | null)?.TraceId
  if (typeof id !== 'string') return {}
  const traceId = id.replaceAll('-', '').toLowerCase()
  return { traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` }
}
