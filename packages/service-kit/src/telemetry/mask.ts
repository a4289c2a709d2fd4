import { maskedEvent, openFields } from '@orderflow/envelope-schema'
import { withoutValues } from './handling.ts'
import { isHidden } from './personal.ts'

export const mask = '***'

const openNames = new Set(openFields.map((name) => name.toLowerCase()))

/**
 * What a service tells of itself, such as a line of its log, at any depth: without what is personal or secret by its name, and of events
 * only what may be shown. Texts are masked as `maskedText` does it.
 */
export function maskedFields(value: unknown, name = ''): unknown {
  if (value !== null && isHidden(name)) return mask
  if (typeof value === 'string') return maskedText(value)
  if (typeof value !== 'object' || value === null) return value
  if (isBytes(value)) return `${mask} (bytes)`
  if (openNames.has(name.toLowerCase())) return maskedEvent(value)
  if (Array.isArray(value)) return value.map((item) => maskedFields(item))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskedFields(inner, key)]))
}

/** Bytes as JSON has them: of a Buffer, or of another array. They may be the text of an event. */
function isBytes(value: object): boolean {
  const { type, data = value } = value as { type?: unknown; data?: unknown }
  const items = Object.values(Object(data))
  const isIndexed = Array.isArray(data) ? type === 'Buffer' : Object.hasOwn(value, '0')
  return isIndexed && items.every((item) => typeof item === 'number')
}

/** Characters. A longer text is not for reading. */
const maxTextLength = 8_000

/** V8 quotes the text around the mistake. */
const quotingSyntaxError = /Unexpected token .*? is not valid JSON/gs

/**
 * A text, such as the message of an error: without values of the document that is being handled, and without what it holds itself of
 * personal or secret fields, as JSON, as a query, or as objects are printed.
 */
export function maskedText(text: string): string {
  if (text.length > maxTextLength) return `${maskedText(text.slice(0, maxTextLength))} (cut)`
  return withoutFields(withoutValues(text.replaceAll(quotingSyntaxError, 'what was read is not valid JSON')))
}

function withoutFields(text: string): string {
  return maskedJson(text) ?? withoutPairs(text)
}

function maskedJson(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.stringify(maskedFields(JSON.parse(text)))
  } catch {
    return undefined
  }
}

/** A name, what stands between it and its value, and the quote before that, if there is one: escaped, where JSON is inside of a text. */
const pair = /(?<![\p{L}\p{N}_.-])([\p{L}_][\p{L}\p{N}_.-]*)(?:\\*["'`])?\s*[:=]\s*(\\*["'`])?/gu

function withoutPairs(text: string): string {
  let masked = ''
  let from = 0
  for (const { 0: found, 1: name = '', 2: quote, index } of text.matchAll(pair)) {
    if (index < from || !isHidden(name)) continue
    const start = index + found.length
    masked += text.slice(from, start) + mask
    from = endOfValue(text, start, quote)
  }
  return masked + text.slice(from)
}

/** Where the value ends that begins at `start`: before its closing quote, before what comes next, or, of a structure, nowhere. */
function endOfValue(text: string, start: number, quote: string | undefined): number {
  if (quote === undefined) {
    if (/[[{]/.test(text.charAt(start))) return text.length
    const next = text.slice(start).search(/[,;&)\]}\n]/)
    return next < 0 ? text.length : start + next
  }
  let end = text.indexOf(quote, start)
  while (end > start && text.charAt(end - 1) === '\\') end = text.indexOf(quote, end + 1)
  return end < 0 ? text.length : end
}

/** A line of a log, which is JSON. Level, time and app are the log's own. */
export function maskedLine(line: string): string {
  const { level, time, app, ...fields } = JSON.parse(line)
  return `${JSON.stringify({ level, time, app, ...(maskedFields(fields) as object) })}\n`
}
