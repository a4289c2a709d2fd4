import { type EventType, eventTypes, examplePayload, scanJson, topicFacts } from '@orderflow/envelope-schema'
import type { Input } from '@orderflow/service-kit'
import { GatewayError } from './gateway-error.ts'

/** 1,000 envelopes of 4 KiB. So many such bodies at once are as much as the connections' small ones may be (docs/security.md). */
const limits = { maxBytes: 4 * 1024 * 1024, maxHeldBytes: 64 * 1024 * 1024 }

/** Returns an example of a reduced envelope, of the first event of a topic; undefined for a topic without events. */
export function exampleFor(topic: string | undefined): object | undefined {
  const [event] = (topic && topicFacts[topic]?.events) || []
  const type = eventTypes.findLast((each) => each.startsWith(`${event}@`))
  if (!type) return undefined
  return {
    AppId: 'd1f6c5a2-3a3e-4b7e-9f0e-1c2d3e4f5a6b',
    AppName: 'older-application',
    Version: versionIn(type),
    Name: event,
    CreationDate: '2026-11-21T09:30:00+01:00',
    Payload: examplePayload(type),
  }
}

const versionIn = (type: EventType) => Number(type.split('@')[1])

/** One envelope, a list of them, or one on each line; not judged yet. */
export const envelopesInput = (example: object | undefined): Input<Item[]> => ({
  read: (request) =>
    itemsOf(request.body ?? new Uint8Array(), request.is(bodyTypes.lines) ? bodyTypes.lines : bodyTypes.json),
  body: {
    name: 'Envelopes',
    // Anything: what is wrong with an envelope is said of each, and is no mistake of the request.
    schema: {
      description: 'An envelope, or a list of them (`/schemas/envelope.received.json`).',
      ...(example && { example }),
    },
  },
  receives: { types: Object.values(bodyTypes), ...limits },
  problems: [400, 413, 415],
})

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
    const lineEnd = body.indexOf(newLine, from)
    const to = lineEnd < 0 ? body.length : lineEnd
    const text = trimmed(body.subarray(from, to))
    if (text.length > 0) items.push({ index: items.length, line, text })
    from = to + 1
  }
  return items
}

// A JSON text as bytes, without making values of it: what is handed on are the bytes that came.

const comma = 0x2c
const opening = new Set([0x5b, 0x7b])
const closing = new Set([0x5d, 0x7d])
const list = { begin: 0x5b, end: 0x5d }
const whiteSpace = new Set([0x20, 0x09, 0x0a, 0x0d])
const byteOrderMark = [0xef, 0xbb, 0xbf]

/** The text without white space around it, and without a byte order mark, which decoders drop as well. */
export function trimmed(text: Uint8Array): Uint8Array {
  let from = byteOrderMark.every((byte, index) => text[index] === byte) ? byteOrderMark.length : 0
  let to = text.length
  while (from < to && whiteSpace.has(text[from] as number)) from += 1
  while (to > from && whiteSpace.has(text[to - 1] as number)) to -= 1
  return text.subarray(from, to)
}

export const isList = (text: Uint8Array): boolean => text[0] === list.begin

/**
 * The elements of a list, trimmed; undefined when the text is none. If each of them is JSON, so is the text, and if one is not, it is not.
 * @param text trimmed, beginning with a bracket
 * @param most no more than one beyond are looked for, since four million commas would be as many elements
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
