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
export const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')

function entriesOf(value: unknown): [string, unknown][] | undefined {
  return typeof value === 'object' && value !== null ? Object.entries(value) : undefined
}

function scalar(value: unknown): { kind: TokenKind; text: string } {
  if (typeof value === 'string') return { kind: isMask(value) ? 'masked' : 'string', text: JSON.stringify(value) }
  return { kind: typeof value === 'number' ? 'number' : 'word', text: String(JSON.stringify(value)) }
}
