// A JSON text as bytes, without making values of it: what is handed on are the bytes that came. All that JSON is built by is ASCII, and no
// byte of another character of UTF-8 looks like it.

const codes = { quote: 0x22, backslash: 0x5c, comma: 0x2c, colon: 0x3a } as const
const opening = new Set([0x5b, 0x7b])
const closing = new Set([0x5d, 0x7d])
const list = { begin: 0x5b, end: 0x5d }
const structural = new Set([...opening, ...closing, codes.comma, codes.colon])
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
  scan(text, (code, at) => {
    if (opening.has(code)) depth += 1
    if (closing.has(code)) depth -= 1
    const isEnd = depth === 0
    if (!isEnd && !(depth === 1 && code === codes.comma)) return true
    const element = trimmed(text.subarray(from, at))
    const isEmptyList = isEnd && elements.length === 0 && element.length === 0
    if (!isEmptyList) elements.push(element)
    from = at + 1
    isWhole = elements.length > most || (isEnd && code === list.end && at === text.length - 1)
    return !isEnd && elements.length <= most
  })
  return isWhole ? elements : undefined
}

/** What leads to an object or a list: keys, no more than anybody is shown, and none of what is in a list. */
interface Place {
  path: string[]
  isWhole: boolean
}

/** Enough for a pointer (judge.ts). Whole paths would take memory by the square of how deep a text nests. */
const mostKeys = 3
/** Whoever wrote so many keys twice knows what is wrong. */
const mostFound = 20

/**
 * The keys that an object has twice, each by the first of the keys that lead to it; those in a list by what leads to the list. Receivers
 * take the last one (JSON.parse), others the first one or none (RFC 8259, section 4): they would not read the same.
 * @param text valid JSON
 */
export function duplicateKeys(text: Uint8Array): string[][] {
  const found: string[][] = []
  const around: { keys: Set<string> | undefined; place: Place; value: Place }[] = []
  const keyAt = keysIn(text)
  let last = { from: 0, to: 0 }
  scan(text, (code, at, end) => {
    if (code === codes.quote) {
      last = { from: at, to: end }
    } else if (opening.has(code)) {
      const place = around.at(-1)?.value ?? { path: [], isWhole: true }
      const isObject = code !== list.begin
      const value = isObject || !place.isWhole ? place : { ...place, isWhole: false }
      around.push({ keys: isObject ? new Set() : undefined, place, value })
    } else if (closing.has(code)) {
      around.pop()
    } else if (code === codes.colon) {
      const object = around.at(-1)
      if (!object?.keys) return true
      const key = keyAt(last.from, last.to)
      object.value = below(object.place, key)
      if (object.keys.has(key)) found.push(object.value.path)
      object.keys.add(key)
    }
    return found.length < mostFound
  })
  return found
}

/** Reads keys, quotes and escapes around and in them. */
function keysIn({ buffer, byteOffset, byteLength }: Uint8Array): (from: number, to: number) => string {
  const text = Buffer.from(buffer, byteOffset, byteLength)
  return (from, to) => {
    const written = text.toString('utf8', from + 1, to - 1)
    return written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written
  }
}

function below({ path, isWhole }: Place, key: string): Place {
  if (!isWhole || path.length === mostKeys) return { path, isWhole: false }
  return { path: [...path, key], isWhole }
}

/**
 * Goes through what a text is built by, in order: brackets, braces, commas, colons, and whole strings, by their first quote.
 * @param visit answers whether to go on
 */
function scan(text: Uint8Array, visit: (code: number, at: number, end: number) => boolean): void {
  for (let at = 0; at < text.length; at += 1) {
    const code = text[at] as number
    if (code === codes.quote) {
      const end = endOfString(text, at)
      if (!visit(code, at, end)) return
      at = end - 1
    } else if (structural.has(code) && !visit(code, at, at + 1)) {
      return
    }
  }
}

function endOfString(text: Uint8Array, from: number): number {
  let at = from + 1
  while (at < text.length && text[at] !== codes.quote) at += text[at] === codes.backslash ? 2 : 1
  return at + 1
}
