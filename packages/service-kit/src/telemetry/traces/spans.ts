import { handled, within } from '../handling.ts'
import type { Span, SpanOptions } from './tracing.ts'

/** Does a piece of the work for what is being handled as a span of its own, where that is recorded. */
export function asSpan<T>(name: string, options: SpanOptions, work: () => Promise<T>): Promise<T> {
  const handling = handled()
  if (!handling?.span) return work()
  const { links } = handling
  const span = handling.span.child(name, links ? { ...options, links } : options)
  return within({ ...handling, span }, () => ended(span, work))
}

/** Does the work of a span, and ends it with what becomes of that. */
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

/** What kind of an error it is: its code, or its class. Messages may quote what was sent. */
export function errorType(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : error.name
}

/** More would say no more. */
const maxLinks = 8

/**
 * Does work that several share, each with the span that it waits in: the first of those that are recorded has the work's spans below its
 * own, and these link to the others.
 */
export function onBehalfOf<T>(spans: readonly (Span | undefined)[], work: () => T): T {
  const [span, ...others] = spans.filter((one) => one !== undefined)
  // Whoever began may be another, and have gone on.
  if (!span && !handled()?.span) return work()
  const links = others.slice(0, maxLinks).map(({ place }) => place)
  return within(span && { document: undefined, span, ...(links.length > 0 && { links }) }, work)
}
