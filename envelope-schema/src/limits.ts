import type { Problem } from './error.ts'

/**
 * Levels of objects and lists, the document being the first. Without a limit, one reader stores an event that another
 * cannot read: every parser and every database has a limit of its own (BSON's is 100, and a document may wrap an event).
 */
const maxLevels = 64

/** Whether a key may be printed: it is made like a name. A pointer ends before any other, which may be long, or hold personal data. */
export const isPlainKey = (key: string): boolean => /^\w{1,64}$/.test(key)

/** Fields of the envelope and of what they hold directly; below that a pointer would only be long. */
const pointerLevels = 2

/** An object or a list, and where it is. */
interface Branch {
  value: object
  level: number
  /** Its own, or that of the nearest branch around it that can be named. */
  pointer: string
  named: boolean
}

const tooLarge = { message: 'has a number that is too large for a 64-bit double' }
const notPortable = {
  message: 'has U+0000 or a lone surrogate in a text or key',
  hint: 'leave it out: not every language and database can hold it',
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** What is wrong with a value or a key itself, whatever it holds. */
function flawOf(value: unknown): Omit<Problem, 'pointer'> | undefined {
  if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) return notPortable
  return value === Infinity || value === -Infinity ? tooLarge : undefined
}

/**
 * What JSON can write and no schema can refuse in every language: nesting without end; numbers that no 64-bit double can
 * hold (JSON.parse reads 1e400 as Infinity, which would be written back as null); and texts and keys with U+0000, which
 * MongoDB refuses in a key and PostgreSQL anywhere, or with a lone surrogate, which UTF-8 cannot write (RFC 7493,
 * section 2.1). Walks with its own stack, since `document` may nest deeper than the call stack.
 * @returns one problem for each pointer
 */
export function limitProblems(document: unknown): Problem[] {
  const problems = new Map<string, Problem>()
  const report = (pointer: string, value: unknown) => {
    const flaw = flawOf(value)
    if (flaw && !problems.has(pointer)) problems.set(pointer, { pointer, ...flaw })
  }
  report('', document)
  const waiting: Branch[] = isObject(document) ? [{ value: document, level: 1, pointer: '', named: true }] : []
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { value, level, pointer } = next
    if (level > maxLevels) return [{ pointer: '', message: `nests deeper than ${maxLevels} levels` }]
    for (const [key, child] of Object.entries(value)) {
      report(pointer, key)
      const named = next.named && level <= pointerLevels && isPlainKey(key)
      const childPointer = named ? `${pointer}/${key}` : pointer
      report(childPointer, child)
      if (isObject(child)) waiting.push({ value: child, level: level + 1, pointer: childPointer, named })
    }
  }
  return [...problems.values()]
}
