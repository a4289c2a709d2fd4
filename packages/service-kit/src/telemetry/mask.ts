import { maskedEvent, mayShow, meansOneOf, openFields, personalNames } from '@orderflow/envelope'
import { parsedJson } from '../json.ts'
import { constantsIn } from './constant-texts.ts'
import { handled } from './context.ts'
import { isSecretName } from './secret-names.ts'

const mask = '***'

const openNames = new Set(openFields.map((name) => name.toLowerCase()))

export type Mask = ReturnType<typeof createMask>

/** Creates the mask of personal data and secrets in log lines, problems and dead letters. */
export function createMask() {
  const hidden = new Set(personalNames)
  let isPersonal = meansOneOf(hidden)
  const isHidden: IsHidden = (name) => isPersonal(name) || isSecretName(name)
  return {
    /** Masks a value at any depth: personal and secret fields, event fields that the contract hides, and parts of texts (as in `text`). */
    fields: (value: unknown) => maskedFields(value, isHidden),
    /**
     * Masks values of the current document in a text. If the text contains JSON, a query or a printed object, also masks its personal and secret
     * fields.
     */
    text: (text: string) => maskedText(text, isHidden),
    /** Masks a log line in JSON, except for its level, time and app. */
    line(line: string): string {
      const { level, time, app, ...fields } = JSON.parse(line)
      return `${JSON.stringify({ level, time, app, ...(maskedFields(fields, isHidden) as object) })}\n`
    },
    /** Adds the names of an API's personal fields to the masked names. */
    hide(names: readonly string[]): void {
      for (const name of names) hidden.add(name)
      isPersonal = meansOneOf(hidden)
    },
  }
}

/** The mask that knows only the personal fields of the contract. */
export const contractMask: Pick<Mask, 'fields' | 'text'> = createMask()

type IsHidden = (name: string) => boolean

function maskedFields(value: unknown, isHidden: IsHidden, name = ''): unknown {
  if (value !== null && isHidden(name)) return mask
  if (typeof value === 'string') return maskedText(value, isHidden)
  if (typeof value !== 'object' || value === null) return value
  if (isBytes(value)) return `${mask} (bytes)`
  if (openNames.has(name.toLowerCase())) return maskedEvent(value)
  if (Array.isArray(value)) return value.map((item) => maskedFields(item, isHidden))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskedFields(inner, isHidden, key)]))
}

/** Returns true for a Buffer or typed array that was converted to JSON. Its bytes may be an event. */
function isBytes(value: object): boolean {
  const { type, data = value } = value as { type?: unknown; data?: unknown }
  const items = Object.values(Object(data))
  const isIndexed = Array.isArray(data) ? type === 'Buffer' : Object.hasOwn(value, '0')
  return isIndexed && items.every((item) => typeof item === 'number')
}

/** The largest length of a text, in characters. Longer texts are cut. */
const maxTextLength = 8_000

/** Matches V8's message about invalid JSON, which quotes the text around the error. */
const quotingSyntaxError = /Unexpected token .*? is not valid JSON/gs

function maskedText(text: string, isHidden: IsHidden): string {
  if (text.length > maxTextLength) return `${maskedText(text.slice(0, maxTextLength), isHidden)} (cut)`
  const rest = withoutValues(text.replaceAll(quotingSyntaxError, 'the text is not valid JSON'))
  return maskedJson(rest, isHidden) ?? withoutPairs(rest, isHidden)
}

function maskedJson(text: string, isHidden: IsHidden): string | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.stringify(maskedFields(JSON.parse(text), isHidden))
  } catch {
    return undefined
  }
}

/** Matches a name, its separator, and the quote before its value. */
const pair = /(?<![\p{L}\p{N}_.-])([\p{L}_][\p{L}\p{N}_.-]*)(?:\\*["'`])?\s*[:=]\s*(\\*["'`])?/gu

function withoutPairs(text: string, isHidden: IsHidden): string {
  const isConstant = constantsIn(text)
  let masked = ''
  let from = 0
  for (const { 0: found, 1: name = '', 2: quote, index } of text.matchAll(pair)) {
    const start = index + found.length
    if (index < from || !isHidden(name) || isConstant(start, start + 1)) continue
    masked += text.slice(from, start) + mask
    from = endOfValue(text, start, quote)
  }
  return masked + text.slice(from)
}

/**
 * Returns the end of the value at `start`: its closing quote, or the next separator. For an object or array, returns the end of the text.
 */
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

/** Matches an id, an escaped character of a URL or of JSON, or a word, which ends at white space or ASCII punctuation. */
const word =
  /\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b|%[\da-f]{2}|\\(?:[bfnrt]|u[\da-f]{4}|x[\da-f]{2})|[^\s!-/:-@[-`{-~]+/giu

/** The smallest length at which a text is masked if it is only a part of a hidden word. Shorter parts occur in half of all texts. */
const minPartLength = 3

/** Matches a word that identifies no person if it is only a part of a value. It also occurs in other texts, such as `policy@1`. */
const shortWord = /^(?:[a-z]|\d{1,2})$/

/** Matches a line that is only such a word, apart from white space and punctuation. */
const shortLine = /^[^\p{L}\p{N}\n]*(?:[a-z]|\d{1,2})[^\p{L}\p{N}\n]*$/gmu

const isEscape = (part: string): boolean => /^[%\\]/.test(part)

/**
 * Masks each word of a text that also occurs in a hidden value of the current document. It compares words instead of whole values, because error
 * messages cut and escape values. Masks a short word (`shortWord`) only if it is a whole value, or next to another such word. Keeps the constant texts of
 * the code.
 */
export function withoutValues(text: string): string {
  const handling = handled()
  if (!handling) return text
  handling.texts ??= hiddenIn(parsed(handling.document)).join('\n').toLowerCase()
  const { texts } = handling
  if (texts === '') return text
  const words = new Set(texts.match(word))
  const wholes = new Set(texts.match(shortLine)?.map((line) => line.replace(/[^a-z\d]/g, '')))
  const isThere = (part = '') => words.has(part) || (part.length >= minPartLength && texts.includes(part))
  const parts = text.match(word)?.map((part) => part.toLowerCase()) ?? []
  const isNextTo = (index: number, step: 1 | -1) => {
    let next = index + step
    while (isEscape(parts[next] ?? '')) next += step
    return isThere(parts[next])
  }
  const isConstant = constantsIn(text)
  let index = -1
  return text.replaceAll(word, (found, at: number) => {
    index += 1
    const lower = found.toLowerCase()
    if (!isThere(lower) || isId(found) || isConstant(at, at + found.length)) return found
    const isPart = shortWord.test(lower) && !isNextTo(index, 1) && !isNextTo(index, -1) && !wholes.has(lower)
    return isPart ? found : '***'
  })
}

/** Returns the parsed document. Bytes that are not JSON are returned as a text. */
function parsed(document: unknown): unknown {
  if (!(document instanceof Uint8Array)) return document
  const text = Buffer.from(document).toString()
  const value = parsedJson(text)
  return value === undefined ? text : value
}

/** The smallest number of digits at which a number is masked. */
const minDigits = 5

/** Returns true for an id. Ids stay readable, because they identify no person and most messages contain an id. */
const isId = (text: string): boolean => mayShow('Id', text)

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
