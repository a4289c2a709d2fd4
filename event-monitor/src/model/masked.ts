import { isPlainKey, mayShow } from '@orderflow/envelope-schema'

/** What stands for a value that may not be shown: `***{/Payload/CustomerName}***`. */
const placeholder = (pointer: string): string => `***{${pointer}}***`
const placeholderForm = /^\*\*\*\{(\/[^}]*)\}\*\*\*$/

/** The pointer that a placeholder names; undefined for any other text. */
export const placeholderPointer = (text: string): string | undefined => placeholderForm.exec(text)?.[1]

/** A document for readers, and the pointers of what it does not show. */
export interface Masked {
  document: unknown
  masked: string[]
}

/**
 * A publisher's document with a placeholder for each value that the contract does not let be shown (`mayShow`). A name that is not plain
 * may be personal, too: its place stands for it.
 */
export function maskDocument(value: unknown): Masked {
  const masked: string[] = []
  return { document: walk(value, '', '', masked), masked }
}

function walk(value: unknown, name: string, pointer: string, masked: string[]): unknown {
  if (typeof value === 'string' || typeof value === 'number') {
    if (mayShow(name, value)) return value
    masked.push(pointer)
    return placeholder(pointer)
  }
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item, index) => walk(item, name, `${pointer}/${index}`, masked))
  const shown: Record<string, unknown> = {}
  let place = 0
  for (const key of Object.keys(value)) {
    place += 1
    const plain = isPlainKey(key) ? key : `*** ${place}`
    set(shown, plain, walk((value as Record<string, unknown>)[key], key, `${pointer}/${plain}`, masked))
  }
  return shown
}

/** Also of a key that means something to the language. */
function set(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true })
  else object[key] = value
}
