import { eventNames, examplePayload, newestType, scanJson } from '@orderflow/envelope'
import { type Input, Refused } from '@orderflow/service-kit'

/** A body may contain 1,000 envelopes of 4 KiB. `maxHeldBytes` limits the memory of all large bodies together (docs/security.md). */
const limits = { maxBytes: 4 * 1024 * 1024, maxHeldBytes: 64 * 1024 * 1024 }

/** Returns an example: a reduced envelope with the newest Version of an event. Returns undefined for an unknown event. */
export function exampleOf(event: string | undefined): object | undefined {
  const name = eventNames.find((known) => known === event)
  if (!name) return undefined
  return {
    AppId: 'd1f6c5a2-3a3e-4b7e-9f0e-1c2d3e4f5a6b',
    AppName: 'older-application',
    Version: Number(newestType(name).split('@')[1]),
    Name: name,
    CreationDate: '2026-11-21T09:30:00+01:00',
    Payload: examplePayload(name),
  }
}

export const envelopesInput = (example: object | undefined): Input<Item[]> => ({
  read: (request) =>
    itemsOf(request.body ?? new Uint8Array(), request.is(bodyTypes.lines) ? bodyTypes.lines : bodyTypes.json),
  body: {
    name: 'Envelopes',
    // The schema accepts any value, because the answer reports the errors of each envelope.
    schema: {
      description: 'An envelope, or a list of envelopes (`/schemas/envelope.received.json`).',
      ...(example && { example }),
    },
  },
  receives: { types: Object.values(bodyTypes), ...limits },
  problems: [400, 413, 415],
})

/** `json`: one envelope or a list; `lines`: one envelope per line. */
export const bodyTypes = { json: 'application/json', lines: 'application/x-ndjson' } as const

export const maxItems = 1_000

export interface Item {
  index: number
  /** Line number from 1, for a body with one envelope per line. */
  line?: number
  text: Uint8Array
}

/**
 * Returns the envelopes in a body. Ignores blank lines.
 * @throws {Refused} `nothing-sent`, `too-many-items`, `not-json`
 */
export function itemsOf(body: Uint8Array, type: (typeof bodyTypes)[keyof typeof bodyTypes]): Item[] {
  const items =
    type === bodyTypes.lines ? linesOf(body) : valuesOf(trimmed(body)).map((text, index) => ({ index, text }))
  if (items.length === 0)
    throw new Refused(
      'nothing-sent',
      `Send an envelope, a list of envelopes (${bodyTypes.json}), or one on each line (${bodyTypes.lines}).`,
    )
  if (items.length > maxItems) {
    throw new Refused('too-many-items', `Send at most ${maxItems} envelopes at once. Nothing was published.`)
  }
  return items
}

function valuesOf(body: Uint8Array): Uint8Array[] {
  if (body.length === 0) return []
  if (!isList(body)) return [body]
  const elements = elementsOf(body, maxItems)
  if (elements) return elements
  throw new Refused(
    'not-json',
    'Check quotes, commas and brackets: the list must end at the end of the body. Nothing was published.',
  )
}

const newLine = 0x0a

/** Skips blank lines byte by byte, because a body may have four million. A call for each of them would take half a second. */
function linesOf(body: Uint8Array): Item[] {
  const items: Item[] = []
  let line = 1
  let from = 0
  for (let at = 0; at < body.length && items.length <= maxItems; at += 1) {
    if (body[at] === newLine) {
      line += 1
      from = at + 1
    }
    if (isSpace(body[at])) continue
    if (at === from && beginsWithMark(body, at)) {
      at += byteOrderMark.length - 1
      continue
    }
    const lineEnd = body.indexOf(newLine, at)
    const to = lineEnd < 0 ? body.length : lineEnd
    const text = trimmed(body.subarray(from, to))
    if (text.length > 0) items.push({ index: items.length, line, text })
    at = to - 1
  }
  return items
}

// The code below splits a list without parsing its elements, so the gateway publishes the original bytes.

const comma = 0x2c
const opening = new Set([0x5b, 0x7b])
const closing = new Set([0x5d, 0x7d])
const list = { begin: 0x5b, end: 0x5d }
const isSpace = (code: number | undefined) => code === 0x20 || code === newLine || code === 0x0d || code === 0x09
const byteOrderMark = [0xef, 0xbb, 0xbf]

const beginsWithMark = (text: Uint8Array, at: number) =>
  text[at] === byteOrderMark[0] && text[at + 1] === byteOrderMark[1] && text[at + 2] === byteOrderMark[2]

export function trimmed(text: Uint8Array): Uint8Array {
  let from = beginsWithMark(text, 0) ? byteOrderMark.length : 0
  let to = text.length
  while (from < to && isSpace(text[from])) from += 1
  while (to > from && isSpace(text[to - 1])) to -= 1
  return text.subarray(from, to)
}

export const isList = (text: Uint8Array): boolean => text[0] === list.begin

/**
 * Returns the trimmed elements of a list, or undefined if the text is not a list.
 * @param text a trimmed text that begins with a bracket
 * @param most the maximum number of elements; the scan stops after `most` + 1, because a body may have four million commas
 */
export function elementsOf(text: Uint8Array, most: number): Uint8Array[] | undefined {
  const elements: Uint8Array[] = []
  let from = 1
  let depth = 0
  let isWhole = false
  scanJson(text, (code, at) => {
    if (opening.has(code)) depth += 1
    if (closing.has(code)) depth -= 1
    const isEnd = depth === 0
    if (!isEnd && !(depth === 1 && code === comma)) return true
    const element = trimmed(text.subarray(from, at))
    const isEmptyList = isEnd && elements.length === 0 && element.length === 0
    if (!isEmptyList) elements.push(element)
    from = at + 1
    isWhole = elements.length > most || (isEnd && code === list.end && at === text.length - 1)
    return !isEnd && elements.length <= most
  })
  return isWhole ? elements : undefined
}
