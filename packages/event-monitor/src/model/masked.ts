import { isPlainKey, mayShow } from '@orderflow/envelope-schema'

/** What stands for a value that may not be shown: `***{/Payload/Field}***`. */
const placeholder = (pointer: string): string => `***{${pointer}}***`
const placeholderForm = /^\*\*\*\{(\/[^}]*)\}\*\*\*$/

/** The pointer that a placeholder names; undefined for any other text. */
export const placeholderPointer = (text: string): string | undefined => placeholderForm.exec(text)?.[1]

/** A document for readers, and the pointers of what it does not show. */
export interface Masked {
  document: unknown
  masked: string[]
}

/** Levels of a document, from those that any event may have (envelope-schema/src/validation/limits.ts) to its own fields alone. */
const levelsShown = [64, 3, 2, 1]
/** Characters of all its pointers, of which a publisher can make a thousand times as many as his document has. */
const maxPointers = 250_000

/** What a masked document leaves out, by the pointers that stand for it. */
export interface Hidden {
  values: ReadonlyMap<string, unknown>
  /** Names of fields that are not shown. */
  names: ReadonlyMap<string, string>
}

interface Walk {
  values: Map<string, unknown>
  names: Map<string, string>
  /** Characters that pointers may still have; below zero it is given up. */
  left: number
}

/**
 * A publisher's document with a placeholder for each value that the contract does not let be shown (`mayShow`). A name that is not plain
 * may be personal, too: its place stands for it. What nests deeper than an event may has one placeholder, and so have branches nearer to
 * the top where the document needs too many; it is undefined where even its fields are too many.
 */
export function maskDocument(value: unknown): Masked {
  const { document, values } = maskedWith(value)
  return { document, masked: [...values.keys()] }
}

/** Returns what the masked form of a document leaves out. */
export function hiddenIn(value: unknown): Hidden {
  return maskedWith(value)
}

function maskedWith(value: unknown): { document: unknown } & Hidden {
  for (const levels of levelsShown) {
    const walk: Walk = { values: new Map(), names: new Map(), left: maxPointers }
    const document = shown({ value, name: '', pointer: '', levels }, walk)
    if (walk.left >= 0) return { document, values: walk.values, names: walk.names }
  }
  return { document: undefined, values: new Map(), names: new Map() }
}

function shown(
  { value, name, pointer, levels }: { value: unknown; name: string; pointer: string; levels: number },
  walk: Walk,
): unknown {
  if (typeof value === 'string' || typeof value === 'number') {
    return mayShow(name, value) ? value : hidden(value, pointer, walk)
  }
  if (typeof value !== 'object' || value === null) return value
  if (levels === 0) return hidden(value, pointer, walk)
  const inner = levels - 1
  if (Array.isArray(value)) {
    return value.map((item, index) =>
      walk.left < 0 ? null : shown({ value: item, name, pointer: `${pointer}/${index}`, levels: inner }, walk),
    )
  }
  const document: Record<string, unknown> = {}
  let place = 0
  for (const key of Object.keys(value)) {
    if (walk.left < 0) return null
    place += 1
    const plain = isPlainKey(key) ? key : `*** ${place}`
    const field = { value: (value as Record<string, unknown>)[key], name: key, pointer: `${pointer}/${plain}` }
    if (plain !== key) walk.names.set(field.pointer, key)
    set(document, plain, shown({ ...field, levels: inner }, walk))
  }
  return document
}

function hidden(value: unknown, pointer: string, walk: Walk): string {
  walk.values.set(pointer, value)
  walk.left -= pointer.length
  return placeholder(pointer)
}

/** Also of a key that means something to the language. */
function set(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true })
  else object[key] = value
}
