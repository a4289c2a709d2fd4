import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import type { Envelope } from '@orderflow/envelope'

/** The ids that are added to all log lines about an event, a request or a document. */
export interface Ids {
  traceId?: string | undefined
  correlationId?: string | undefined
  eventId?: string | undefined
}

export interface Handling extends Ids {
  /** The current document or its bytes, whose personal values are masked in log lines. */
  document: unknown
  texts?: string | undefined
  /** The event's time of arrival, in milliseconds since 1970; undefined for a request. */
  arrivedAt?: number | undefined
  /** True if later records of the event's key wait until the event is handled. */
  isFollowed?: boolean
  /** The records of the event's key in its delivery; undefined if they are handled one by one. */
  run?: Run | undefined
  /** Begins the next record of the run. A handler calls it when its only change waits to be saved. */
  passOn?: (() => void) | undefined
  /** The time of the running handler (sidecar/handler-time.ts). It stays after a handler was ended, whose later calls are refused. */
  time?: HandlerTime | undefined
  /** The received headers of the trace. */
  trace?: TraceHeaders
  span?: Span | undefined
  links?: readonly SpanContext[]
}

export interface HandlerTime {
  /** The number of checks at which the handler did not wait for the sidecar. After a pause of the process, there is only one check. */
  checks: number
  /** The number of open calls to the sidecar. */
  calls: number
  /** The time at which the handler began to wait for the sidecar. */
  waitsSince: number
  isOver: boolean
  end: () => void
}

/** Records of one key in a delivery. If each changes one document, their changes may be saved together. */
export interface Run {
  /** True if a record failed. Later changes of the run must then not be made. */
  isBroken: boolean
}

const current = new AsyncLocalStorage<Handling | undefined>()

/** Returns the current request or event; undefined if there is neither. */
export const handled = (): Handling | undefined => current.getStore()

/**
 * Runs an operation for a request or an event. The operation's log lines have the ids of the event, and hide personal values of its document.
 */
export const within = <T>(handling: Handling | undefined, work: () => T): T => current.run(handling, work)

/**
 * Runs an operation whose log lines hide the personal values of a document. These lines get no ids.
 * @param document the parsed document, or the bytes of a JSON text
 */
export const whileHandling = <T>(document: unknown, work: () => T): T => within({ document }, work)

/** Adds the ids of the current event to log lines. For a request, it adds the ids of the first event that the request publishes. */
export function noteIds({ Id, CorrelationId, TraceId }: Pick<Envelope, 'Id' | 'CorrelationId' | 'TraceId'>): void {
  const handling = handled()
  if (!handling || handling.eventId !== undefined) return
  handling.eventId = Id
  handling.correlationId = CorrelationId
  handling.traceId ??= TraceId
}

/** Sets the current document, whose values are masked; undefined if no more masking is needed. */
export function nowHandling(document: unknown): void {
  const handling = handled()
  if (handling) Object.assign(handling, { document, texts: undefined })
}

export const idsOf = ({ traceId, correlationId, eventId }: Ids = {}): Ids => ({ traceId, correlationId, eventId })

/** Runs an operation in a new child of the current span, if the trace is recorded. */
export function asSpan<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T> {
  const handling = handled()
  if (!handling?.span) return work()
  const { links } = handling
  const span = handling.span.child(name, links ? { ...options, links } : options)
  return within({ ...handling, span }, () => ended(span, work))
}

export async function ended<T>(span: Span | undefined, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work()
    span?.end()
    return result
  } catch (error) {
    span?.end(errorType(error))
    throw error
  }
}

/** Returns the error's code, or the name of its class. An error's message is not used, because it may quote personal data. */
export function errorType(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : error.name
}

/** The largest number of links of a span. */
const maxLinks = 8

/**
 * Runs an operation that several requests or events share. The operation's spans are children of the first recorded span, and link to the other
 * recorded spans.
 * @param spans the current span of each request or event; undefined for a request or event that is not recorded
 */
export function onBehalfOf<T>(spans: readonly (Span | undefined)[], work: () => T): T {
  const [span, ...others] = spans.filter((one) => one !== undefined)
  // The current span may belong to another request, which has ended. In that case, the operation must run without it.
  if (!span && !handled()?.span) return work()
  const links = others.slice(0, maxLinks).map(({ context }) => context)
  return within(span && { document: undefined, span, ...(links.length > 0 && { links }) }, work)
}

/**
 * Matches a valid `traceparent`. Version ff and ids of zeros are invalid. Version 00 has 55 characters; later versions may have more characters after
 * a hyphen.
 */
const traceparent = /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/
const traceId = /^(?!0{32})[0-9a-f]{32}$/
const sampledBit = 1

/** A span's position in a trace, as in a W3C `traceparent` (https://www.w3.org/TR/trace-context/). */
export interface SpanContext {
  /** The id of the trace: 32 lower-case hex digits, not all zero. */
  traceId: string
  /** The id of the span: 16 lower-case hex digits, not all zero. */
  spanId: string
  isSampled: boolean
}

/** Returns the span's position in a header `traceparent`; undefined for an invalid header. */
export function spanContextIn(header: string | undefined): SpanContext | undefined {
  const [, traceId, spanId, flags] = traceparent.exec(header ?? '') ?? []
  if (!traceId || !spanId || !flags) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & sampledBit) !== 0 }
}

export const traceparentOf = ({ traceId, spanId, isSampled }: SpanContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`

/** The headers of W3C Trace Context. `tracestate` belongs to other systems, which the event passed before. */
export interface TraceHeaders {
  traceparent?: string
  tracestate?: string
}

/** Matches a `tracestate` that fits the limits of W3C Trace Context, section 3.3.1.5. */
const tracestateForm = /^[\x20-\x7e]{1,512}$/

/**
 * Returns the headers to forward. Only the known fields of a later version are forwarded, as version 00. A `tracestate` needs a valid `traceparent`.
 */
export function traceHeadersIn(traceparent: string | undefined, tracestate: string | undefined): TraceHeaders {
  const context = spanContextIn(traceparent)
  if (!context || traceparent === undefined) return {}
  return {
    traceparent: traceparent.startsWith('00') ? traceparent : traceparentOf(context),
    ...(tracestate !== undefined && tracestateForm.test(tracestate) && { tracestate }),
  }
}

/** Returns the TraceId for a W3C trace id: the same 32 hex digits, written as a GUID. */
export const guidOf = (traceId: string): string =>
  `${traceId.slice(0, 8)}-${traceId.slice(8, 12)}-${traceId.slice(12, 16)}-${traceId.slice(16, 20)}-${traceId.slice(20)}`

/** Returns the W3C trace id of an envelope's TraceId; undefined for an invalid TraceId. */
export function traceIdOf(guid: string): string | undefined {
  // This code runs for each event, and is three times as fast as replacing all hyphens.
  const hex = guid.slice(0, 8) + guid.slice(9, 13) + guid.slice(14, 18) + guid.slice(19, 23) + guid.slice(24)
  const lower = hex.toLowerCase()
  return traceId.test(lower) ? lower : undefined
}

/** Returns a new trace id. A UUID is cheaper than other random bytes, because Node generates UUIDs in advance. */
export const newTraceId = (): string => randomUUID().replaceAll('-', '')

/** A span's attributes: ids, names, numbers and outcomes. They must not contain text that a person wrote. */
export type Attributes = Record<string, string | number | boolean | undefined>

export type SpanKind = 'server' | 'client' | 'producer' | 'consumer' | 'internal'

export interface SpanOptions {
  kind: SpanKind
  attributes?: Attributes
  links?: readonly SpanContext[]
}

export interface Span {
  readonly context: SpanContext
  child(name: string, options: SpanOptions): Span
  rename(name: string): void
  set(attributes: Attributes): void
  /** @param error the code of the failure, never its message; undefined for success */
  end(error?: string): void
}

/** The recorder of a service's traces (https://opentelemetry.io/docs/specs/otel/trace/). */
export interface Tracing {
  /**
   * Returns true if a trace is recorded. The decision comes from `parent`, or derives from the trace's id, so that all services make the same
   * decision.
   */
  isSampled(traceId: string, parent: SpanContext | undefined): boolean
  /** Begins a child of `parent`, or the first span of a sampled trace. */
  begin(name: string, traceId: string, parent: SpanContext | undefined, options: SpanOptions): Span
  /** Sends the remaining spans, and stops the recorder. */
  stop(): Promise<void>
}
