import type { Problem } from './error.ts'

/**
 * Levels of objects and lists, the document being the first. Without a limit, one reader stores an event that another
 * cannot read: every parser and every database has a limit of its own (BSON's is 100, and a document may wrap an event).
 */
const maxLevels = 64

/** Returns whether a key is a plain name that may be printed. Pointers end before other keys, which may be long or personal. */
export const isPlainKey = (key: string): boolean => /^\w{1,64}$/.test(key)

/** Fields of the envelope and of what they hold directly; below that a pointer would only be long. */
const pointerLevels = 2

/** An object or a list: the document, or what another one holds under a key. */
interface Branch {
  value: object
  within?: { branch: Branch; key: string }
}

const tooLarge = { message: 'has a number that is too large for a 64-bit double' }
const tooDeep = {
  pointer: '',
  message: `nests deeper than ${maxLevels} levels`,
  hint: 'objects and lists count, the document being the first: flatten it, or send what is deep as a text',
}
const notPortable = {
  message: 'has U+0000 or a lone surrogate in a text or key',
  hint: 'leave it out: not every language and database can hold it',
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

type Flaw = Omit<Problem, 'pointer'>

/** Returns the flaw of a value or key itself, without its content. */
function flawOf(value: unknown): Flaw | undefined {
  if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) return notPortable
  return value === Infinity || value === -Infinity ? tooLarge : undefined
}

/**
 * Whether a document has more levels than an event may have. Goes level by level: what recurs through it instead, as masking and drawing
 * do, may end at any depth beyond.
 */
export function nestsTooDeep(document: unknown): boolean {
  let branches = [document].filter(isObject)
  for (let level = 0; level < maxLevels; level += 1) {
    branches = branches.flatMap((branch) => Object.values(branch).filter(isObject))
  }
  return branches.length > 0
}

/** Returns whether limitProblems would find nothing. It runs for every event, so it keeps no pointers and lists no keys. */
function keepsLimits(value: unknown, levels: number, isPlain: boolean): boolean {
  if (typeof value === 'string') return isPlain || flawOf(value) === undefined
  if (!isObject(value)) return flawOf(value) === undefined
  if (levels === 0) return false
  if (Array.isArray(value)) return value.every((item) => keepsLimits(item, levels - 1, isPlain))
  for (const key in value) {
    if (!isPlain && flawOf(key)) return false
    if (!keepsLimits((value as Record<string, unknown>)[key], levels - 1, isPlain)) return false
  }
  return true
}

/**
 * What JSON can write and no schema can refuse in every language: nesting without end; numbers that no 64-bit double can
 * hold (JSON.parse reads 1e400 as Infinity, which would be written back as null); and texts and keys with U+0000, which
 * MongoDB refuses in a key and PostgreSQL anywhere, or with a lone surrogate, which UTF-8 cannot write (RFC 7493,
 * section 2.1). Walks with its own stack, since `document` may nest deeper than the call stack.
 * @param isPlain whether it was read from UTF-8 text without a backslash: then no text or key can be wrong, for JSON writes
 * both only as an escape
 * @returns one problem for each pointer
 */
export function limitProblems(document: unknown, isPlain = false): Problem[] {
  if (keepsLimits(document, maxLevels, isPlain)) return []
  if (nestsTooDeep(document)) return [tooDeep]
  const problems = new Map<string, Problem>()
  const report = (flaw: Flaw, keys: string[]) => {
    const pointer = pointerOf(keys)
    if (!problems.has(pointer)) problems.set(pointer, { pointer, ...flaw })
  }
  const flaw = flawOf(document)
  if (flaw) report(flaw, [])
  const waiting: Branch[] = isObject(document) ? [{ value: document }] : []
  for (let branch = waiting.pop(); branch; branch = waiting.pop()) {
    const { value } = branch
    for (const key of Object.keys(value)) {
      const child = (value as Record<string, unknown>)[key]
      const ofKey = flawOf(key)
      if (ofKey) report(ofKey, keysTo(branch))
      const ofChild = flawOf(child)
      if (ofChild) report(ofChild, [...keysTo(branch), key])
      if (isObject(child)) waiting.push({ value: child, within: { branch, key } })
    }
  }
  return [...problems.values()]
}

/** Returns the path of keys to a branch. It is computed only for a flaw, because nearly no event has one. */
function keysTo({ within }: Branch): string[] {
  return within ? [...keysTo(within.branch), within.key] : []
}

/** Returns the pointer of a value by its keys, or of the nearest value around it that may be named. */
export function pointerOf(keys: string[]): string {
  const unnamed = keys.findIndex((key, index) => index >= pointerLevels || !isPlainKey(key))
  return keys
    .slice(0, unnamed < 0 ? keys.length : unnamed)
    .map((key) => `/${key}`)
    .join('')
}
