/** Where a value stands in a text: `from` its first character (of its name, in an object), `to` after its last. */
export interface Range {
  from: number
  to: number
}

/**
 * Where each value of a JSON text stands, by its JSON pointer, as far as the text can be read: what comes after a mistake is left out.
 */
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
    const found = /"(?:[^"\\]|\\.)*"/sy
    found.lastIndex = at
    const [whole] = found.exec(text) ?? []
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

/** Of a pointer that is not there, the nearest that it would be in; the first character when there is none. */
export function rangeOf(ranges: Map<string, Range>, pointer: string): Range {
  for (let at = pointer; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) {
    const range = ranges.get(at)
    if (range) return at === pointer ? range : { from: range.from, to: Math.min(range.to, range.from + 1) }
  }
  return { from: 0, to: Math.min(1, ranges.get('')?.to ?? 0) }
}

class Mistake extends Error {}
