import { AsyncLocalStorage } from 'node:async_hooks'
import { mayShow } from '@orderflow/envelope-schema'

/** What is being handled: a document, or the bytes of one. Its texts are looked for only when something is told meanwhile. */
interface Handling {
  document: unknown
  texts?: string
}

const current = new AsyncLocalStorage<Handling>()

/**
 * Does some work on account of a document of somebody else's, such as an event or a request's body: what is told meanwhile, in logs,
 * dead letters and problems, has none of its personal values, in whatever words; see `withoutValues`.
 * @param document JSON, or the bytes of a JSON text
 */
export function whileHandling<T>(document: unknown, work: () => T): T {
  return current.run({ document }, work)
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
    if (typeof value === 'object' && value !== null) waiting.push(...Object.entries(value))
    const isText = typeof value === 'string' && !isId(value)
    const isNumber = typeof value === 'number' && String(value).length >= minDigits
    if ((isText || isNumber) && !mayShow(name, value)) found.push(String(value))
  }
  return found
}
