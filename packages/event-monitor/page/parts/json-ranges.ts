import { jsonLanguage } from '@codemirror/lang-json'
import { escaped } from '../lib/json.ts'

type SyntaxNode = ReturnType<typeof jsonLanguage.parser.parse>['topNode']

/** Range of a value in a text. `from` is the start of the value or of its field name; `to` is exclusive. */
interface Range {
  from: number
  to: number
}

/** Returns the names, values and syntax errors in a node, without brackets and commas. */
function partsOf({ firstChild }: SyntaxNode): SyntaxNode[] {
  const parts: SyntaxNode[] = []
  for (let part = firstChild; part; part = part.nextSibling) if (/^[A-Z⚠]/.test(part.name)) parts.push(part)
  return parts
}

/** Returns the ranges of values by JSON pointer, up to the first syntax error. */
export function pointerRanges(text: string): Map<string, Range> {
  const ranges = new Map<string, Range>()
  /** Returns false if the value is missing or has a syntax error. */
  const add = (value: SyntaxNode | undefined, pointer: string, from = value?.from ?? 0): boolean => {
    if (!value || value.type.isError) return false
    const isWhole = partsOf(value).every((part, index) => {
      if (part.name !== 'Property') return add(part, `${pointer}/${index}`)
      const [name, inner] = partsOf(part)
      const key = JSON.parse(text.slice(name?.from, name?.to)) as string
      return add(inner, `${pointer}/${escaped(key)}`, part.from)
    })
    if (isWhole) ranges.set(pointer, { from, to: value.to })
    return isWhole
  }
  const [value] = partsOf(jsonLanguage.parser.parse(text).topNode)
  add(value, '')
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
