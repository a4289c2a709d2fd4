import { isPlainKey, mayShow, meansOneOf, personalNames } from '@orderflow/envelope'

const placeholder = (pointer: string): string => `***{${pointer}}***`
const placeholderForm = /^\*\*\*\{(\/[^}]*)\}\*\*\*$/

/** Returns the pointer in a placeholder. Returns undefined for any other text. */
export const placeholderPointer = (text: string): string | undefined => placeholderForm.exec(text)?.[1]

/** Returns a word, such as a reason or the name of a service. Masks any other text. */
export const plainWord = (word: string): string => (/^[\w.-]+$/.test(word) ? word : '***')

interface Masked {
  document: unknown
  masked: string[]
}

/**
 * Numbers of nested levels to show. If one number results in too many placeholders, the next number is used. An event
 * has at most 64 levels (packages/envelope/src/validation/check.ts).
 */
const levelsShown = [64, 3, 2, 1]
/** The largest total length of all pointers. Without a limit, it can be a thousand times the length of the document. */
const maxPointers = 250_000

/** Maps pointers to hidden values and to hidden field names. */
interface Hidden {
  values: ReadonlyMap<string, unknown>
  names: ReadonlyMap<string, string>
}

interface Walk {
  values: Map<string, unknown>
  names: Map<string, string>
  /** Number of characters that pointers may still use. */
  left: number
}

/**
 * Writes placeholders instead of values that the contract hides (`mayShow`), and numbers instead of field names that
 * may be personal. Each branch below the shown levels becomes one placeholder. Shows fewer levels if there are too many
 * placeholders. The document is undefined if even one level has too many placeholders.
 */
export function maskDocument(value: unknown): Masked {
  const { document, values } = maskedWith(value)
  return { document, masked: [...values.keys()] }
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
  let number = 0
  for (const key of Object.keys(value)) {
    if (walk.left < 0) return null
    number += 1
    const plain = isPlainKey(key) ? key : `*** ${number}`
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

/** Sets a property, even with the name `__proto__`. */
function set(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true })
  else object[key] = value
}

export function documentIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The largest edited text in characters. Placeholders make it longer than the event, which has at most 256 KiB. */
export const maxEditable = 512 * 1024

/** Returns indented JSON text with placeholders, or undefined if the event is too large or not JSON. */
export function editableText(value: Uint8Array): string | undefined {
  const { document } = maskDocument(documentIn(Buffer.from(value).toString()))
  if (document === undefined) return undefined
  return [JSON.stringify(document, null, 2), JSON.stringify(document)].find(({ length }) => length <= maxEditable)
}

/** Reports a placeholder outside of its field, or for the second time. The message contains no values. */
export class MisplacedPlaceholder extends Error {}

/**
 * Replaces all placeholders in an edited text by the values and names of the original event. A placeholder is valid once, in its own field. It is also
 * valid if the edit renames this field to a personal field. Other fields may show their values, in the answer or in the replayed event.
 * @throws {SyntaxError} if the text is not JSON
 * @throws {MisplacedPlaceholder}
 */
export function editedValue(text: string, original: Uint8Array): Buffer {
  const hidden = maskedWith(documentIn(Buffer.from(original).toString()))
  const edited: unknown = JSON.parse(text)
  const used = new Set<string>()
  const take = (placeholder: string, pointer: string) => {
    const isOwn = fieldOf(placeholder) === fieldOf(pointer) || isRename(edited, placeholder, pointer)
    if (!isOwn || used.has(placeholder)) throw new MisplacedPlaceholder(misplaced(placeholder, pointer))
    used.add(placeholder)
    return hidden.values.get(placeholder)
  }
  return Buffer.from(JSON.stringify(restored(edited, '', hidden, take)))
}

const misplaced = (placeholder: string, pointer: string) =>
  `${pointer || 'the event'} has the placeholder of ${placeholder}. Use it once, in its own field, or write the value`

/** Returns a pointer that is the same for all items of a list, because an edit may remove an item. */
const fieldOf = (pointer: string): string => pointer.replaceAll(/\/\d+(?=\/|$)/g, '/*')

const isPersonal = meansOneOf(personalNames)

/** Returns true if the edit moved a value within its object, to a field that hides all values. */
function isRename(edited: unknown, from: string, to: string): boolean {
  const [before, after] = [from, to].map((pointer) => pointer.lastIndexOf('/')) as [number, number]
  const isSameObject = fieldOf(from.slice(0, before)) === fieldOf(to.slice(0, after))
  return isSameObject && isPersonal(to.slice(after + 1)) && !existsIn(edited, from)
}

function existsIn(document: unknown, pointer: string): boolean {
  let value = document
  for (const key of pointer.split('/').slice(1)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false
    value = (value as Record<string, unknown>)[key]
  }
  return true
}

type Take = (placeholder: string, pointer: string) => unknown

function restored(value: unknown, pointer: string, hidden: Hidden, take: Take): unknown {
  if (typeof value === 'string') {
    const placeholder = placeholderPointer(value)
    return placeholder !== undefined && hidden.values.has(placeholder) ? take(placeholder, pointer) : value
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item, index) => restored(item, `${pointer}/${index}`, hidden, take))
  const fields = Object.entries(value).map(([key, inner]) => {
    const fieldPointer = `${pointer}/${key}`
    return [hidden.names.get(fieldPointer) ?? key, restored(inner, fieldPointer, hidden, take)]
  })
  return Object.fromEntries(fields)
}

interface Change {
  pointer: string
  before: unknown
  after: unknown
}

export function changesBetween(before: unknown, after: unknown, pointer = ''): Change[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  if (!isObject(before) || !isObject(after)) return [{ pointer, before: before ?? null, after: after ?? null }]
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names.flatMap((name) => changesBetween(before[name], after[name], `${pointer}/${name}`))
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
