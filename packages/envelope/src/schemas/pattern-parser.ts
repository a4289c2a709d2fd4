/** A part of a regular expression. Groups have no node of their own, and a word boundary is an empty sequence. */
export type Node =
  | { kind: 'characters'; source: string }
  | { kind: 'start' }
  | { kind: 'end' }
  | { kind: 'sequence'; parts: Node[] }
  | { kind: 'choice'; parts: Node[] }
  | Repeat

interface Repeat {
  kind: 'repeat'
  part: Node
  least: number
  most: number
}

/** Reports a construct that can need much time, and that Go and other languages lack. */
export class UnsupportedConstruct extends Error {}

/** Matches one token: a character, an escape or a class. */
const token =
  /\\u\{[^}]*\}|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u.{4}|\\x..|\\c.|\\[pP]\{[^}]*\}|\\[\s\S]|\[(?:\\[\s\S]|[^\]])*\]|[\s\S]/uy
const quantifier = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??/y
const group = /\((?:\?:|\?<[^=!>][^>]*>|(?!\?))/y

/** @param pattern a valid pattern for the flag `u` */
export function parsePattern(pattern: string): Node {
  let at = 0
  const take = (form: RegExp): RegExpExecArray | undefined => {
    form.lastIndex = at
    const found = form.exec(pattern) ?? undefined
    at += found?.[0].length ?? 0
    return found
  }
  const choice = (): Node => {
    const parts = [sequence()]
    while (take(/\|/y)) parts.push(sequence())
    return parts.length === 1 ? (parts[0] as Node) : { kind: 'choice', parts }
  }
  const sequence = (): Node => {
    const parts: Node[] = []
    while (at < pattern.length && !'|)'.includes(pattern[at] as string)) parts.push(repeated(atom()))
    return { kind: 'sequence', parts }
  }
  const atom = (): Node => {
    if (pattern[at] === '(') {
      if (!take(group)) throw new UnsupportedConstruct()
      const inner = choice()
      at += 1
      return inner
    }
    const source = take(token)?.[0] as string
    if (source === '^' || source === '$') return source === '^' ? { kind: 'start' } : { kind: 'end' }
    if (/^\\[1-9k]/.test(source)) throw new UnsupportedConstruct()
    return /^\\b/i.test(source) ? { kind: 'sequence', parts: [] } : { kind: 'characters', source }
  }
  const repeated = (part: Node): Node => {
    const [, sign, least, comma, most] = take(quantifier) ?? []
    if (sign) return { kind: 'repeat', part, least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Infinity }
    if (!least) return part
    return { kind: 'repeat', part, least: Number(least), most: Number(comma ? most || Infinity : least) }
  }
  return choice()
}
