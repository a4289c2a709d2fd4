import { randomUUID } from 'node:crypto'

/** Version ff and ids of zeros are not valid. Version 00 has 55 characters; a later one may go on after a hyphen. */
const traceparent = /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/
const traceId = /^(?!0{32})[0-9a-f]{32}$/
const sampledBit = 1

/** A place in a trace, as a W3C `traceparent` names it (https://www.w3.org/TR/trace-context/). */
export interface SpanPlace {
  /** 32 hex digits, in lower case, not all of them zero. */
  traceId: string
  /** 16 hex digits, the same. */
  spanId: string
  /** Whether whoever made the span records the trace. */
  isSampled: boolean
}

/** The place that a `traceparent` names; undefined when the header is missing or not valid. */
export function placeIn(header: string | undefined): SpanPlace | undefined {
  const [, traceId, spanId, flags] = traceparent.exec(header ?? '') ?? []
  if (!traceId || !spanId || !flags) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & sampledBit) !== 0 }
}

export function traceparentOf({ traceId, spanId, isSampled }: SpanPlace): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}

/** The envelope's TraceId for a trace: the same 32 hex digits, written as a GUID. */
export function guidOf(traceId: string): string {
  return traceId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** The trace that a TraceId names; undefined for one that names none, such as a GUID of zeros. */
export function traceIdOf(guid: string): string | undefined {
  // Each event has one: this is a third of what a replacement of all hyphens costs.
  const hex = guid.slice(0, 8) + guid.slice(9, 13) + guid.slice(14, 18) + guid.slice(19, 23) + guid.slice(24)
  const lower = hex.toLowerCase()
  return traceId.test(lower) ? lower : undefined
}

/** Node keeps UUIDs in stock, so they are much cheaper than other random bytes. */
export const newTraceId = (): string => randomUUID().replaceAll('-', '')
