// A JSON text as bytes, without making values of it: what is handed on are the bytes that came. All that JSON is built by is ASCII, and no
// byte of another character of UTF-8 looks like it.

const codes = { quote: 0x22, backslash: 0x5c, comma: 0x2c, colon: 0x3a } as const
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
 */
export function elementsOf(text: Uint8Array): Uint8Array[] | undefined {
  const elements: Uint8Array[] = []
  let from = 1
  let depth = 0
  for (const { code, at } of structureOf(text)) {
    if (opening.has(code)) depth += 1
    if (closing.has(code)) depth -= 1
    const isEnd = depth === 0
    if (!isEnd && !(depth === 1 && code === codes.comma)) continue
    const element = trimmed(text.subarray(from, at))
    const isEmptyList = isEnd && elements.length === 0 && element.length === 0
    if (!isEmptyList) elements.push(element)
    if (isEnd) return code === list.end && at === text.length - 1 ? elements : undefined
    from = at + 1
  }
  return undefined
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
  let last = { from: 0, to: 0 }
  for (const { code, at, end } of structureOf(text)) {
    const object = around.at(-1)
    if (code === codes.quote) last = { from: at, to: end }
    else if (opening.has(code)) {
      const place = object?.value ?? { path: [], isWhole: true }
      const isList = code === list.begin
      around.push({ keys: isList ? undefined : new Set(), place, value: isList ? { ...place, isWhole: false } : place })
    } else if (closing.has(code)) around.pop()
    else if (code === codes.colon && object?.keys) {
      const key = JSON.parse(Buffer.from(text.subarray(last.from, last.to)).toString()) as string
      object.value = below(object.place, key)
      if (object.keys.has(key) && found.push(object.value.path) === mostFound) return found
      object.keys.add(key)
    }
  }
  return found
}

function below({ path, isWhole }: Place, key: string): Place {
  if (!isWhole || path.length === mostKeys) return { path, isWhole: false }
  return { path: [...path, key], isWhole }
}

/** What a text is built by, in order: brackets, braces, commas, colons, and whole strings, by their first quote. */
function* structureOf(text: Uint8Array): Generator<{ code: number; at: number; end: number }> {
  for (let at = 0; at < text.length; at += 1) {
    const code = text[at] as number
    if (code === codes.quote) {
      const end = endOfString(text, at)
      yield { code, at, end }
      at = end - 1
    } else if (opening.has(code) || closing.has(code) || code === codes.comma || code === codes.colon) {
      yield { code, at, end: at + 1 }
    }
  }
}

function endOfString(text: Uint8Array, from: number): number {
  let at = from + 1
  while (at < text.length && text[at] !== codes.quote) at += text[at] === codes.backslash ? 2 : 1
  return at + 1
}
