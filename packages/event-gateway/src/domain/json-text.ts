import { scanJson } from '@orderflow/envelope-schema'

// A JSON text as bytes, without making values of it: what is handed on are the bytes that came.

const comma = 0x2c
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
 * @param most no more than one beyond are looked for, since four million commas would be as many elements
 */
export function elementsOf(text: Uint8Array, most: number): Uint8Array[] | undefined {
  const elements: Uint8Array[] = []
  let from = 1
  let depth = 0
  let isWhole = false
  scanJson(text, (code, at) => {
    if (opening.has(code)) depth += 1
    if (closing.has(code)) depth -= 1
    const isEnd = depth === 0
    if (!isEnd && !(depth === 1 && code === comma)) return true
    const element = trimmed(text.subarray(from, at))
    const isEmptyList = isEnd && elements.length === 0 && element.length === 0
    if (!isEmptyList) elements.push(element)
    from = at + 1
    isWhole = elements.length > most || (isEnd && code === list.end && at === text.length - 1)
    return !isEnd && elements.length <= most
  })
  return isWhole ? elements : undefined
}
