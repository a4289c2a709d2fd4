import { type Node, parsePattern, UnsupportedConstruct } from './pattern-parser.ts'

/** A state of an automaton. It reads a character, or it is left without reading. `next` is empty at the end of the text. */
interface State {
  id: number
  /** The source of the class, escape or character that the state reads. */
  reads?: string
  /** True if only the beginning of the text leaves the state. */
  isStart?: boolean
  next: State[]
}

/** The number of ways in which the automaton can arrive at each state after the same text. */
type Ways = Map<State, number>

/** A backtracking engine tries each of these ways, so their number limits its steps for one character. */
const maxWays = 100
const maxStates = 20_000
const maxSteps = 1_000_000

/** Reports that a pattern exceeds a limit. */
class Costly extends Error {}

/**
 * Returns the reason why a pattern may need more than linear time in V8's backtracking engine, or undefined. The function counts the ways in which
 * the pattern can read the beginning of a text, for all texts.
 */
export function patternFlaw(pattern: string): string | undefined {
  try {
    countWays(withoutLastRepeat(parsePattern(pattern)))
    return undefined
  } catch (error) {
    if (error instanceof UnsupportedConstruct)
      return 'has a lookahead, lookbehind, modifier or back reference, which not every language has; use "not" with a second "pattern"'
    if (error instanceof Costly)
      return 'can take minutes for one long text, because it can read the same characters in many ways; begin it with ^, and let only one repetition match each character'
    throw error
  }
}

/** Removes a repetition at the end of the pattern. The first match is enough, so such a repetition changes nothing. */
function withoutLastRepeat(node: Node): Node {
  if (node.kind === 'choice') return { kind: 'choice', parts: node.parts.map(withoutLastRepeat) }
  if (node.kind === 'repeat') return { ...node, most: node.least }
  if (node.kind !== 'sequence' || node.parts.length === 0) return node
  return { kind: 'sequence', parts: [...node.parts.slice(0, -1), withoutLastRepeat(node.parts.at(-1) as Node)] }
}

/** @throws {Costly} if a text can be read in more than `maxWays` ways, or if there are too many states to know it */
function countWays(pattern: Node): void {
  const { first, states } = automaton(pattern)
  const symbols = symbolsOf(new Set(states.flatMap(({ reads }) => reads ?? [])))
  const budget = { steps: maxSteps }
  const known = new Map<State, Ways>()
  const waysAfter = (state: State): Ways => {
    const ways = known.get(state) ?? waysFrom(state.next[0] as State, false, budget)
    known.set(state, ways)
    return ways
  }
  const seen = new Set<string>()
  const waiting = [waysFrom(first, true, budget)]
  for (let ways = waiting.pop(); ways; ways = waiting.pop()) {
    for (const symbol of symbols) {
      const next: Ways = new Map()
      for (const [state, count] of ways) {
        if (!symbol.has(state.reads as string)) continue
        for (const [target, more] of waysAfter(state)) {
          next.set(target, (next.get(target) ?? 0) + count * more)
          spend(budget)
        }
      }
      if (sum(next.values()) > maxWays) throw new Costly()
      const key = [...next]
        .map(([{ id }, count]) => `${id}:${count}`)
        .sort()
        .join()
      if (!seen.has(key)) waiting.push(next)
      seen.add(key)
    }
  }
}

/** Returns the states of a pattern. The engine may begin at each character, so the first state may skip any number of characters. */
function automaton(pattern: Node): { first: State; states: State[] } {
  const states: State[] = []
  const add = (state: Omit<State, 'id'>): State => {
    if (states.length === maxStates) throw new Costly()
    states.push({ id: states.length, ...state })
    return states.at(-1) as State
  }
  const build = (node: Node, next: State): State => {
    if (node.kind === 'characters') return add({ reads: node.source, next: [next] })
    if (node.kind === 'start') return add({ isStart: true, next: [next] })
    if (node.kind === 'end') return add({ next: [] })
    if (node.kind === 'sequence') return node.parts.reduceRight((rest, part) => build(part, rest), next)
    if (node.kind === 'choice') return add({ next: node.parts.map((part) => build(part, next)) })
    const { part, least, most } = node
    const isLoop = most === Infinity
    let [entry, copies] = [next, least]
    if (isLoop) {
      const loop = add({ next: [] })
      const inner = build(part, loop)
      loop.next.push(inner, next)
      entry = least > 0 ? inner : loop
      copies = Math.max(least - 1, 0)
    } else for (let copy = least; copy < most; copy += 1) entry = add({ next: [build(part, entry), next] })
    for (let copy = 0; copy < copies; copy += 1) entry = build(part, entry)
    return entry
  }
  const first = add({ next: [] })
  first.next.push(add({ reads: '[\\s\\S]', next: [first] }), build(pattern, add({ next: [] })))
  return { first, states }
}

/** Returns the reading states to which a state leads without reading. */
function waysFrom(from: State, isStart: boolean, budget: Budget): Ways {
  const ways: Ways = new Map()
  const path: State[] = []
  const visit = (state: State): void => {
    spend(budget)
    if (state.isStart && !isStart) return
    if (state.reads !== undefined) return void ways.set(state, (ways.get(state) ?? 0) + 1)
    // Two visits are possible: after `a`, `(a*)*` can continue the inner loop, or leave it and enter it again.
    if (path.filter((visited) => visited === state).length === 2) return
    path.push(state)
    for (const next of state.next) visit(next)
    path.pop()
  }
  visit(from)
  return ways
}

interface Budget {
  steps: number
}

function spend(budget: Budget): void {
  budget.steps -= 1
  if (budget.steps < 0) throw new Costly()
}

/** The characters at which `\d`, `\w`, `\s`, `.` and escapes such as `\n` begin or end. */
const always = [
  ...Array.from({ length: 0x100 }, (_, code) => code),
  ...[0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff, 0x10ffff],
]

/** Returns the sets of sources that match the same character. Characters that match the same sources are one symbol. */
function symbolsOf(sources: ReadonlySet<string>): ReadonlySet<string>[] {
  const codes = new Set(always)
  for (const source of sources) for (const code of codesIn(source)) codes.add(code)
  const forms = Array.from(sources, (source) => ({ source, form: new RegExp(`^${source}$`, 'u') }))
  const symbols = new Map<string, ReadonlySet<string>>()
  for (const code of codes) {
    const character = String.fromCodePoint(code)
    const matches = forms.filter(({ form }) => form.test(character)).map(({ source }) => source)
    symbols.set(matches.join('\n'), new Set(matches))
  }
  return [...symbols.values()]
}

/** All characters of the alphabets, and every sixteenth of the others. */
const sample = Array.from({ length: 0x4000 }, (_, code) => (code < 0x3000 ? code : 0x3000 + (code - 0x3000) * 16))

/** Returns the characters of a source and their neighbors. For a Unicode property, it returns a sample with all alphabets. */
function codesIn(source: string): number[] {
  if (/\\p/i.test(source)) return sample
  const plain = source
    .replaceAll(/\\u\{([^}]*)\}/g, (_, hex) => String.fromCodePoint(Number.parseInt(hex, 16)))
    .replaceAll(/\\u(.{4})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Array.from(plain, (character) => character.codePointAt(0) as number)
    .flatMap((code) => [code - 1, code, code + 1])
    .filter((code) => code >= 0 && code <= 0x10ffff)
}

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, each) => total + each, 0)
