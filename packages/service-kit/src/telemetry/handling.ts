import { AsyncLocalStorage } from 'node:async_hooks'
import { type Envelope, mayShow } from '@orderflow/envelope-schema'
import type { SpanPlace } from './traces/trace.ts'
import type { Span } from './traces/tracing.ts'

/** By which all lines of the log about an event, a request or an order are found, as envelopes have them. */
export interface Ids {
  traceId?: string | undefined
  correlationId?: string | undefined
  eventId?: string | undefined
}

/** What is being handled: a request, or an event. */
export interface Handling extends Ids {
  /** A document, or the bytes of one. Its texts are looked for only when something is told meanwhile. */
  document: unknown
  texts?: string | undefined
  /** Of an event: when it reached the log, in milliseconds since 1970. */
  arrivedAt?: number | undefined
  /** The valid W3C header that came with it. */
  traceparent?: string | undefined
  /** The work that is being done for it, where that is recorded. */
  span?: Span | undefined
  /** Others that the same work is done for. */
  links?: readonly SpanPlace[]
}

const current = new AsyncLocalStorage<Handling | undefined>()

/** What is being handled; undefined for work on nobody's account. */
export function handled(): Handling | undefined {
  return current.getStore()
}

/**
 * Does some work on account of a document of somebody else's, such as an event or a request's body: what is told meanwhile, in logs,
 * dead letters and problems, has none of its personal values, in whatever words (see `withoutValues`), and names its ids.
 */
export function within<T>(handling: Handling | undefined, work: () => T): T {
  return current.run(handling, work)
}

/**
 * The same of a document alone.
 * @param document JSON, or the bytes of a JSON text
 */
export function whileHandling<T>(document: unknown, work: () => T): T {
  return within({ document }, work)
}

/** The ids of the event that is being handled, or of the first one that a request publishes. */
export function noteIds({ Id, CorrelationId, TraceId }: Pick<Envelope, 'Id' | 'CorrelationId' | 'TraceId'>): void {
  const handling = handled()
  if (!handling || handling.eventId !== undefined) return
  handling.eventId = Id
  handling.correlationId = CorrelationId
  handling.traceId ??= TraceId
}

/** From now on what is handled has this document; undefined: all that is told of it is masked by now. */
export function nowHandling(document: unknown): void {
  const handling = handled()
  if (handling) Object.assign(handling, { document, texts: undefined })
}

/** What a line of the log says of what is being handled. */
export function idsOf({ traceId, correlationId, eventId }: Ids = {}): Ids {
  return { traceId, correlationId, eventId }
}

/**
 * An id as a whole, an escaped character, which ends a word (of a URL, of JSON), or a word: anything but white space and ASCII's punctuation.
 */
const word =
  /\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b|%[\da-f]{2}|\\(?:[bfnrt]|u[\da-f]{4}|x[\da-f]{2})|[^\s!-/:-@[-`{-~]+/giu

/** A shorter one is in half of all texts. */
const minPartLength = 3

/**
 * A text of an error of any library, less what it has of the document that is being handled: each word of it that stands in a value which
 * may not be shown. By words and not by whole values, since messages quote, cut and escape what they are about.
 */
export function withoutValues(text: string): string {
  const handling = current.getStore()
  if (!handling) return text
  handling.texts ??= hiddenIn(parsed(handling.document)).join('\n').toLowerCase()
  const { texts } = handling
  if (texts === '') return text
  const words = new Set(texts.match(word))
  return text.replaceAll(word, (found) => {
    const lower = found.toLowerCase()
    const isThere = words.has(lower) || (found.length >= minPartLength && texts.includes(lower))
    return isThere && !isId(found) ? '***' : found
  })
}

/** What is no JSON is a text that may hold anything. */
function parsed(document: unknown): unknown {
  if (!(document instanceof Uint8Array)) return document
  const text = Buffer.from(document).toString()
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Digits of a number that says who somebody is, and not how many there are. */
const minDigits = 5

/** Ids lead to nobody by themselves, and most messages name one. */
const isId = (text: string): boolean => mayShow('Id', text)

/** The texts of a document that may not be shown. */
function hiddenIn(document: unknown): string[] {
  const found: string[] = []
  const waiting: [name: string, value: unknown][] = [['', document]]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [name, value] = next
    if (typeof value === 'object' && value !== null) for (const entry of Object.entries(value)) waiting.push(entry)
    const isText = typeof value === 'string' && !isId(value)
    const isNumber = typeof value === 'number' && String(value).length >= minDigits
    if ((isText || isNumber) && !mayShow(name, value)) found.push(String(value))
  }
  return found
}
