import { documentIn } from './document.ts'
import { type Hidden, hiddenIn, maskDocument, placeholderPointer } from './masked.ts'

/** Characters of an event's text that may be edited. Placeholders make it longer than the event, of which 256 KiB fit into a topic. */
export const maxEditable = 512 * 1024

/**
 * Returns the event as JSON text to edit, with placeholders for what its reader may not see. It has line breaks where they fit. Undefined
 * when the event is not JSON, or too much.
 */
export function editableText(value: Uint8Array): string | undefined {
  const { document } = maskDocument(documentIn(Buffer.from(value).toString()))
  if (document === undefined) return undefined
  return [JSON.stringify(document, null, 2), JSON.stringify(document)].find(({ length }) => length <= maxEditable)
}

/**
 * Returns the event that an edited text means. Placeholders stand for the values that the original has there, wherever they were put, and
 * a field whose name is not shown has its own name again where it was.
 * @throws {SyntaxError} the text is no JSON
 */
export function editedValue(text: string, original: Uint8Array): Buffer {
  const hidden = hiddenIn(documentIn(Buffer.from(original).toString()))
  return Buffer.from(JSON.stringify(restored(JSON.parse(text), '', hidden)))
}

function restored(value: unknown, pointer: string, hidden: Hidden): unknown {
  if (typeof value === 'string') {
    const place = placeholderPointer(value)
    return (place === undefined ? undefined : hidden.values.get(place)) ?? value
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item, index) => restored(item, `${pointer}/${index}`, hidden))
  const fields = Object.entries(value).map(([key, inner]) => {
    const place = `${pointer}/${key}`
    return [hidden.names.get(place) ?? key, restored(inner, place, hidden)]
  })
  return Object.fromEntries(fields)
}

export interface Change {
  pointer: string
  before: unknown
  after: unknown
}

/** What differs between two documents, the smallest parts that do; masked. */
export function changesBetween(before: unknown, after: unknown, pointer = ''): Change[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  if (!isObject(before) || !isObject(after)) return [{ pointer, before: before ?? null, after: after ?? null }]
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names.flatMap((name) => changesBetween(before[name], after[name], `${pointer}/${name}`))
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
