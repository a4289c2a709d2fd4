import { AsyncLocalStorage } from 'node:async_hooks'
import type { Envelope } from '@orderflow/envelope'
import type { Span, SpanOptions, SpanPlace } from './traces/trace.ts'

/** The ids that lead to all log lines about an event, a request or an order. They are written as in envelopes. */
export interface Ids {
  traceId?: string | undefined
  correlationId?: string | undefined
  eventId?: string | undefined
}

/** The request or event that is being handled. */
export interface Handling extends Ids {
  /** A document, or the bytes of one. Its texts are collected only when a text has to be masked. */
  document: unknown
  texts?: string | undefined
  /** When the event reached the log, in milliseconds since 1970; undefined for a request. */
  arrivedAt?: number | undefined
  /** The valid W3C header of the request or event. */
  traceparent?: string | undefined
  /** The span of the current operation, if the trace is recorded. */
  span?: Span | undefined
  /** The spans of other requests or events that share this operation. */
  links?: readonly SpanPlace[]
}

const current = new AsyncLocalStorage<Handling | undefined>()

/** Returns what is being handled; undefined outside of requests and events. */
export function handled(): Handling | undefined {
  return current.getStore()
}

/**
 * Runs an operation for a request or an event. Logs, dead letters and problems that it writes contain no personal value of the document
 * (see `withoutValues`), and log lines have the ids.
 */
export function within<T>(handling: Handling | undefined, work: () => T): T {
  return current.run(handling, work)
}

/**
 * Runs an operation for a document that has no ids.
 * @param document JSON, or the bytes of a JSON text
 */
export function whileHandling<T>(document: unknown, work: () => T): T {
  return within({ document }, work)
}

/** Adds the ids of the event that is being handled, or of the first event that a request publishes. */
export function noteIds({ Id, CorrelationId, TraceId }: Pick<Envelope, 'Id' | 'CorrelationId' | 'TraceId'>): void {
  const handling = handled()
  if (!handling || handling.eventId !== undefined) return
  handling.eventId = Id
  handling.correlationId = CorrelationId
  handling.traceId ??= TraceId
}

/** Sets the document that is being handled; undefined when none of its values needs masking any more. */
export function nowHandling(document: unknown): void {
  const handling = handled()
  if (handling) Object.assign(handling, { document, texts: undefined })
}

/** Returns the ids for a log line. */
export function idsOf({ traceId, correlationId, eventId }: Ids = {}): Ids {
  return { traceId, correlationId, eventId }
}

/** Runs an operation as a child span of the current span, if the trace is recorded. */
export function asSpan<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T> {
  const handling = handled()
  if (!handling?.span) return work()
  const { links } = handling
  const span = handling.span.child(name, links ? { ...options, links } : options)
  return within({ ...handling, span }, () => ended(span, work))
}

/** Runs an operation, and ends its span with the operation's outcome. */
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

/** Returns the error's code, or the name of its class. Messages are left out because they may quote personal data. */
export function errorType(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : error.name
}

/** More links add nothing for a reader. */
const maxLinks = 8

/**
 * Runs an operation that several requests or events share. The operation's spans become children of the first recorded span, and link to the
 * other recorded spans.
 * @param spans the span in which each of them waits; undefined for one that is not recorded
 */
export function onBehalfOf<T>(spans: readonly (Span | undefined)[], work: () => T): T {
  const [span, ...others] = spans.filter((one) => one !== undefined)
  // The current span may belong to another request, which has ended.
  if (!span && !handled()?.span) return work()
  const links = others.slice(0, maxLinks).map(({ place }) => place)
  return within(span && { document: undefined, span, ...(links.length > 0 && { links }) }, work)
}
