import type { Fault } from '../../src/api/index.ts'

type TokenKind = 'key' | 'string' | 'number' | 'word' | 'mark' | 'masked'
export interface JsonLine {
  depth: number
  tokens: { kind: TokenKind; text: string }[]
  /** JSON pointer of the value that begins here. */
  pointer: string
  faults: Fault[]
}

const masked = /^\*\*\*(\{[^}]*\}\*\*\*$| \(\d+ characters\)$)/

export const isMask = (text: string) => masked.test(text)

/**
 * Returns a document as lines. Each fault is at the line of its pointer, or of the nearest parent.
 * @param most maximum number of lines
 */
export function jsonLines(document: unknown, faults: readonly Fault[] = [], most = 5000): JsonLine[] {
  const lines: JsonLine[] = []
  write(lines, document, { depth: 0, pointer: '', before: [], after: '' }, most)
  if (lines.length > most) {
    lines.length = most
    lines.push({ depth: 0, tokens: [{ kind: 'mark', text: '… the document is too long' }], pointer: '', faults: [] })
  }
  const byPointer = new Map<string, JsonLine>()
  for (const line of lines) if (!byPointer.has(line.pointer)) byPointer.set(line.pointer, line)
  for (const fault of faults) nearest(byPointer, fault.pointer)?.faults.push(fault)
  return lines
}

function nearest(lines: Map<string, JsonLine>, pointer: string): JsonLine | undefined {
  for (let at = pointer; ; at = at.slice(0, at.lastIndexOf('/'))) {
    const line = lines.get(at)
    if (line || at === '') return line
  }
}

interface Spot {
  depth: number
  pointer: string
  /** The field name before the value, if the value is in an object. */
  before: JsonLine['tokens']
  /** A comma, or empty for the last value. */
  after: string
}

function write(lines: JsonLine[], value: unknown, spot: Spot, most: number): void {
  if (lines.length > most) return
  const { depth, pointer, before, after } = spot
  const line = (tokens: JsonLine['tokens']) => lines.push({ depth, tokens, pointer, faults: [] })
  const entries = entriesOf(value)
  if (!entries) {
    line([...before, scalar(value), ...(after ? [mark(after)] : [])])
    return
  }
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  if (entries.length === 0) {
    line([...before, mark(`${open}${close}${after}`)])
    return
  }
  line([...before, mark(open)])
  for (const [index, [name, inner]] of entries.entries()) {
    const key: JsonLine['tokens'] = Array.isArray(value)
      ? []
      : [{ kind: 'key', text: JSON.stringify(name) }, mark(': ')]
    const comma = index < entries.length - 1 ? ',' : ''
    write(lines, inner, { depth: depth + 1, pointer: `${pointer}/${escaped(name)}`, before: key, after: comma }, most)
  }
  line([mark(`${close}${after}`)])
}

const mark = (text: string) => ({ kind: 'mark' as const, text })
const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')

function entriesOf(value: unknown): [string, unknown][] | undefined {
  return typeof value === 'object' && value !== null ? Object.entries(value) : undefined
}

function scalar(value: unknown): { kind: TokenKind; text: string } {
  if (typeof value === 'string') return { kind: isMask(value) ? 'masked' : 'string', text: JSON.stringify(value) }
  return { kind: typeof value === 'number' ? 'number' : 'word', text: String(JSON.stringify(value)) }
}

/** Range of a value in a text. `from` is the start of the value or of its field name; `to` is exclusive. */
interface Range {
  from: number
  to: number
}

/** Returns the ranges of values by JSON pointer, up to the first syntax error. */
export function pointerRanges(text: string): Map<string, Range> {
  const ranges = new Map<string, Range>()
  let at = 0
  const space = () => {
    while (/\s/.test(text[at] ?? '')) at += 1
  }
  const expect = (character: string) => {
    space()
    if (text[at] !== character) throw new Mistake()
    at += 1
  }
  const string = (): string => {
    const pattern = /"(?:[^"\\]|\\.)*"/sy
    pattern.lastIndex = at
    const [whole] = pattern.exec(text) ?? []
    if (whole === undefined) throw new Mistake()
    at += whole.length
    try {
      return JSON.parse(whole) as string
    } catch {
      throw new Mistake()
    }
  }
  const items = (close: string, one: (index: number) => void) => {
    at += 1
    space()
    if (text[at] === close) {
      at += 1
      return
    }
    for (let index = 0; ; index += 1) {
      space()
      one(index)
      space()
      if (text[at] === close) break
      expect(',')
    }
    at += 1
  }
  const value = (pointer: string, start: number): void => {
    space()
    const from = start < 0 ? at : start
    const first = text[at]
    if (first === '{') {
      items('}', () => {
        const nameAt = at
        const name = string()
        expect(':')
        value(`${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, nameAt)
      })
    } else if (first === '[') items(']', (index) => value(`${pointer}/${index}`, -1))
    else if (first === '"') string()
    else {
      const word = /[^\s,\]}]+/y
      word.lastIndex = at
      const [whole] = word.exec(text) ?? []
      if (!whole) throw new Mistake()
      at += whole.length
    }
    ranges.set(pointer, { from, to: at })
  }
  try {
    value('', -1)
  } catch (error) {
    if (!(error instanceof Mistake)) throw error
  }
  return ranges
}

/** Returns the range of a pointer. If the text has no such value: the first character of the nearest parent. */
export function rangeOf(ranges: Map<string, Range>, pointer: string): Range {
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const range = ranges.get(at)
    if (range) return at === pointer ? range : { from: range.from, to: Math.min(range.to, range.from + 1) }
  }
  return { from: 0, to: Math.min(1, ranges.get('')?.to ?? 0) }
}

class Mistake extends Error {}
