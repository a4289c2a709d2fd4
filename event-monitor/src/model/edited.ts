import { documentIn } from './document.ts'
import { maskDocument, placeholderPointer } from './masked.ts'

/** The event for somebody who edits it: JSON text with a placeholder for what he may not see. Undefined when it is no JSON, or too much. */
export function editableText(value: Uint8Array): string | undefined {
  const { document } = maskDocument(documentIn(Buffer.from(value).toString()))
  return document === undefined ? undefined : JSON.stringify(document, null, 2)
}

/**
 * The event that an edited text means: placeholders stand for the values that the original has there, wherever they were put.
 * @throws {SyntaxError} the text is no JSON
 */
export function editedValue(text: string, original: Uint8Array): Buffer {
  const document = documentIn(Buffer.from(original).toString())
  const hidden = new Set(maskDocument(document).masked)
  const restored = restore(JSON.parse(text), (pointer) =>
    hidden.has(pointer) ? valueAt(document, pointer) : undefined,
  )
  return Buffer.from(JSON.stringify(restored))
}

function restore(value: unknown, original: (pointer: string) => unknown): unknown {
  if (typeof value === 'string') {
    const pointer = placeholderPointer(value)
    return (pointer === undefined ? undefined : original(pointer)) ?? value
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => restore(item, original))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, restore(inner, original)]))
}

/** A name that is not shown goes by its place: `*** 3` is the third of its object. */
function valueAt(document: unknown, pointer: string): unknown {
  let value = document
  for (const step of pointer.split('/').slice(1)) {
    const place = /^\*\*\* (\d+)$/.exec(step)?.[1]
    value =
      place === undefined
        ? (Object(value) as Record<string, unknown>)[step]
        : Object.values(Object(value))[Number(place) - 1]
  }
  return value
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
