import type { Problem } from './error.ts'

/**
 * Levels of objects and lists, the document being the first. Without a limit, one reader stores an event that another
 * cannot read: every parser and every database has a limit of its own (BSON's is 100, and a document may wrap an event).
 */
const maxLevels = 64

/** Keys that are safe to print; a pointer ends before any other, which may be long, or hold personal data. */
const plainKey = /^\w{1,64}$/

/** Fields of the envelope and of what they hold directly; below that a pointer would only be long. */
const pointerLevels = 2

interface Place {
  value: unknown
  level: number
  /** Of this place, or of the nearest place around it that can be named. */
  pointer: string
  named: boolean
}

/**
 * What JSON can write and no schema can refuse: nesting without end, and numbers that no 64-bit double can hold
 * (JSON.parse reads 1e400 as Infinity, which would be written back as null). Walks with its own stack, since
 * `document` may nest deeper than the call stack.
 * @param document straight from JSON.parse
 */
export function limitProblems(document: unknown): Problem[] {
  const infinite = new Set<string>()
  const waiting: Place[] = [{ value: document, level: 1, pointer: '', named: true }]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { value, level, pointer } = next
    if (value === Infinity || value === -Infinity) infinite.add(pointer)
    if (typeof value !== 'object' || value === null) continue
    if (level > maxLevels) return [{ pointer: '', message: `nests deeper than ${maxLevels} levels` }]
    for (const [key, child] of Object.entries(value)) {
      if (typeof child !== 'object' && typeof child !== 'number') continue
      const named = next.named && level <= pointerLevels && plainKey.test(key)
      waiting.push({ value: child, level: level + 1, pointer: named ? `${pointer}/${key}` : pointer, named })
    }
  }
  return [...infinite].map((pointer) => ({ pointer, message: 'has a number that is too large for a 64-bit double' }))
}
