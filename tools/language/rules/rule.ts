import type { Kind } from '../texts/text.ts'

/** A part of a text that breaks a rule. */
export interface Finding {
  index: number
  length: number
  /** The advice for the author. */
  fix: string
}

/** A rule of docs/style.md. */
export interface Rule {
  name: string
  /** The kinds of texts that the rule reads; the default is all kinds. */
  kinds?: Kind[]
  /** Texts that break the rule, with a correction. */
  examples: { bad: string; good: string }[]
  /** Returns the parts of a text that break the rule. The text has single spaces, and a stand-in for code. */
  check: (text: string, kind: Kind) => Finding[]
}

/** Words to avoid, with advice. */
export interface Pattern {
  words: RegExp
  fix: string
  bad: string
  good: string
}

/** Returns a rule that reports each match of its patterns. */
export function patternRule(name: string, patterns: Pattern[]): Rule {
  const all = patterns.map(({ words, fix }) => ({ words: new RegExp(words.source, `g${words.flags}`), fix }))
  return {
    name,
    examples: patterns.map(({ bad, good }) => ({ bad, good })),
    check: (text) =>
      all.flatMap(({ words, fix }) =>
        [...text.matchAll(words)].map(({ index, 0: found }) => ({
          index,
          length: found.length,
          fix: `“${found}”: ${fix}`,
        })),
      ),
  }
}

/** Returns the sentences of a text with their index. */
export function sentencesOf(text: string): { index: number; sentence: string }[] {
  const ends = [...text.matchAll(/[.!?]["'”’)]* (?=["'“‘([]*[\p{Lu}\d\uFFFC])/gu)].map(
    ({ index, 0: found }) => index + found.length,
  )
  const starts = [0, ...ends]
  return starts.map((index, at) => ({ index, sentence: text.slice(index, starts[at + 1]).trimEnd() }))
}
