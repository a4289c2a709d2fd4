export type Kind =
  | 'doc comment'
  | 'comment'
  | 'test title'
  | 'suite title'
  | 'UI text'
  | 'API description'
  | 'message'
  | 'help'
  | 'schema'
  | 'prose'
  | 'heading'

/** A text in a file that is written for people. */
export interface Text {
  kind: Kind
  /** The index of the first character in the file. */
  start: number
  end: number
  /** The characters from `start` to `end`. Spaces replace markup, and `standIn` replaces code. */
  value: string
}

/** A character that stands for code, a link's address or a value that is known only at run time. The rules treat it as a word. */
export const standIn = '\uFFFC'

/** A character without width, which stands for the backslash of an escaped quote. */
export const nothing = '\u2060'

/** Builds a `Text` from parts of a file. Other characters become spaces, so each character keeps its index. */
export class TextBuilder {
  readonly #source: string
  readonly #characters = new Map<number, string>()

  constructor(source: string) {
    this.#source = source
  }

  /** Adds characters of the file as they are. */
  keep(start: number, end: number): this {
    for (let index = start; index < end; index++) this.#characters.set(index, this.#source[index] as string)
    return this
  }

  /** Replaces characters that the rules do not read by one word. */
  replace(start: number, end: number): this {
    for (let index = start; index < end; index++) this.#characters.set(index, standIn)
    return this
  }

  /** Adds a character without width. */
  omit(index: number): this {
    this.#characters.set(index, nothing)
    return this
  }

  drop(start: number, end: number): this {
    for (let index = start; index < end; index++) this.#characters.delete(index)
    return this
  }

  /** Returns the texts of the parts, one for each paragraph. A paragraph of digits and signs is left out. */
  build(kind: Kind): Text[] {
    const indices = [...this.#characters.keys()]
    if (indices.length === 0) return []
    const first = indices.reduce((least, index) => Math.min(least, index))
    const last = indices.reduce((most, index) => Math.max(most, index))
    let value = ''
    for (let index = first; index <= last; index++) {
      value += this.#characters.get(index) ?? (this.#source[index] === '\n' ? '\n' : ' ')
    }
    return paragraphs(value, kind === 'help')
      .map(({ start, end }) => trimmed(kind, value, start, end, first))
      .filter(({ value: text }) => /\p{L}/u.test(text))
  }
}

/** Splits a text at empty lines, and before each item of a list or (with `hasColumns`) each row of columns. */
function paragraphs(value: string, hasColumns: boolean): { start: number; end: number }[] {
  const borders = hasColumns ? /\n(?=.*\S {2,}\S)|\n(?=\s*\n)/g : /\n(?=\s*\n)|\n(?=\s*(?:[-*+•]|\d+\.)\s)/g
  const starts = [0, ...[...value.matchAll(borders)].map(({ index }) => index)]
  return starts.map((start, at) => ({ start, end: starts[at + 1] ?? value.length }))
}

function trimmed(kind: Kind, value: string, start: number, end: number, offset: number): Text {
  const text = value.slice(start, end)
  const marker = text.match(/^\s*(?:(?:[-*+•]|\d+\.)\s+(?:\[[ x]\]\s+)?)?/)?.[0].length ?? 0
  const body = text.slice(marker).trimEnd()
  return { kind, start: offset + start + marker, end: offset + start + marker + body.length, value: body }
}
