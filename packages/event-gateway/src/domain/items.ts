import { GatewayError } from './gateway-error.ts'
import { elementsOf, isList, trimmed } from './json-text.ts'

/** The media types of a body: one envelope or a list of them, or one on each line. */
export const bodyTypes = { json: 'application/json', lines: 'application/x-ndjson' } as const

/** As many envelopes as a body may have. */
export const maxItems = 1_000

/** One envelope of a body, as it came. */
export interface Item {
  /** Its place in the body, from 0 on. */
  index: number
  /** Of a body of lines: its line, from 1 on. */
  line?: number
  text: Uint8Array
}

/**
 * The envelopes in a body, whatever they are worth. Blank lines are none.
 * @throws {GatewayError} `nothing-sent`, `too-many-items`, `not-json`
 */
export function itemsOf(body: Uint8Array, type: (typeof bodyTypes)[keyof typeof bodyTypes]): Item[] {
  const items =
    type === bodyTypes.lines ? linesOf(body) : valuesOf(trimmed(body)).map((text, index) => ({ index, text }))
  if (items.length === 0)
    throw new GatewayError(
      'nothing-sent',
      `Send an envelope, a list of them (${bodyTypes.json}), or one on each line (${bodyTypes.lines}).`,
    )
  if (items.length > maxItems) {
    throw new GatewayError('too-many-items', `Send at most ${maxItems} envelopes at once. Nothing was published.`)
  }
  return items
}

function valuesOf(body: Uint8Array): Uint8Array[] {
  if (body.length === 0) return []
  if (!isList(body)) return [body]
  const elements = elementsOf(body, maxItems)
  if (elements) return elements
  throw new GatewayError(
    'not-json',
    'Check quotes, commas and brackets: the list does not end where the body does. Nothing was published.',
  )
}

const newLine = 0x0a

function linesOf(body: Uint8Array): Item[] {
  const items: Item[] = []
  let line = 1
  for (let from = 0; from < body.length && items.length <= maxItems; line += 1) {
    const found = body.indexOf(newLine, from)
    const to = found < 0 ? body.length : found
    const text = trimmed(body.subarray(from, to))
    if (text.length > 0) items.push({ index: items.length, line, text })
    from = to + 1
  }
  return items
}
