// Reads a JSON text as bytes. In UTF-8, the bytes of JSON's structural characters occur in no other character.

const codes = { quote: 0x22, backslash: 0x5c, comma: 0x2c, colon: 0x3a, minus: 0x2d, zero: 0x30, nine: 0x39 } as const
const listBegin = 0x5b
const opening = new Set([listBegin, 0x7b])
const closing = new Set([0x5d, 0x7d])
const structural = new Set([...opening, ...closing, codes.comma, codes.colon])

/**
 * Visits brackets, braces, commas, colons and whole strings, in the order of the text.
 * @param visit returns true to continue
 */
export function scanJson(text: Uint8Array, visit: (code: number, at: number, end: number) => boolean): void {
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

/** The keys that lead to a value: at most three. A value in a list has the keys of the list. */
interface Path {
  keys: string[]
  isWhole: boolean
}

/** The number of keys that a pointer needs. The memory for whole paths would grow with the square of the depth. */
const mostKeys = 3
const mostFound = 20

/** Problems that `JSON.parse` hides. The keys of each problem lead to the value, or to the list that contains the value. */
interface HiddenByParsing {
  /** Keys that an object has more than once. Some parsers use the first value of such a key, others the last one (RFC 8259, section 4). */
  duplicateKeys: string[][]
  /** Numbers that a 64-bit double cannot represent exactly (RFC 8259, section 6). */
  inexactNumbers: string[][]
}

/** @param text valid JSON in UTF-8 */
export function hiddenByParsing(text: Uint8Array): HiddenByParsing {
  const found: HiddenByParsing = { duplicateKeys: [], inexactNumbers: [] }
  const around: { keys: Set<string> | undefined; path: Path; value: Path }[] = []
  const textAt = textsIn(text)
  let string = { from: 0, to: 0 }
  let from = 0
  scanJson(text, (code, at, end) => {
    if (code === codes.comma || closing.has(code)) {
      const number = numberAt(text, from, at)
      if (number && !isExact(textAt(number.from, number.to))) found.inexactNumbers.push(around.at(-1)?.value.keys ?? [])
    }
    from = end
    if (code === codes.quote) {
      string = { from: at, to: end }
    } else if (opening.has(code)) {
      const path = around.at(-1)?.value ?? { keys: [], isWhole: true }
      const isObject = code !== listBegin
      const value = isObject || !path.isWhole ? path : { ...path, isWhole: false }
      around.push({ keys: isObject ? new Set() : undefined, path, value })
    } else if (closing.has(code)) {
      around.pop()
    } else if (code === codes.colon) {
      const object = around.at(-1)
      if (!object?.keys) return true
      const key = keyOf(textAt(string.from + 1, string.to - 1))
      object.value = below(object.path, key)
      if (object.keys.has(key)) found.duplicateKeys.push(object.value.keys)
      object.keys.add(key)
    }
    return found.duplicateKeys.length < mostFound && found.inexactNumbers.length < mostFound
  })
  return found
}

function textsIn({ buffer, byteOffset, byteLength }: Uint8Array): (from: number, to: number) => string {
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  return (from, to) => bytes.toString('utf8', from, to)
}

const keyOf = (written: string) => (written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written)

function below({ keys, isWhole }: Path, key: string): Path {
  if (!isWhole || keys.length === mostKeys) return { keys, isWhole: false }
  return { keys: [...keys, key], isWhole }
}

/** Returns the position of the number between `begin` and `end`. Returns undefined if the value there is not a number. */
function numberAt(text: Uint8Array, begin: number, end: number): { from: number; to: number } | undefined {
  let [from, to] = [begin, end]
  while (from < to && (text[from] as number) <= 0x20) from += 1
  while (to > from && (text[to - 1] as number) <= 0x20) to -= 1
  const first = text[from] as number
  const isNumber = from < to && (first === codes.minus || (first >= codes.zero && first <= codes.nine))
  return isNumber ? { from, to } : undefined
}

/** Returns true if a double keeps the value of a JSON number, such as `0.1` or `42.50`. */
function isExact(number: string): boolean {
  const written = decimalOf(number)
  const read = decimalOf(String(Number(number)))
  return written !== undefined && written === read
}

/** Returns the same text for all spellings of a number: its digits without zeros at the beginning and end, and the exponent. */
function decimalOf(number: string): string | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? []
  const digits = whole + fraction
  let [from, to] = [0, digits.length]
  while (from < to && digits[from] === '0') from += 1
  while (to > from && digits[to - 1] === '0') to -= 1
  if (whole === '') return undefined
  if (from === to) return '0'
  return `${sign}${digits.slice(from, to)}e${Number(exponent) - fraction.length + digits.length - to}`
}

/** Returns the number of decimals of a number: 2 for 42.55, 300 for 1e-300. */
export function decimalPlaces(value: number): number {
  const [digits = '', exponent = '0'] = String(value).split('e')
  return Math.max(0, (digits.split('.')[1] ?? '').length - Number(exponent))
}
