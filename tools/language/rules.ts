import { createRequire } from 'node:module'
import {
  TextlintKernel,
  type TextlintKernelRule,
  type TextlintPluginCreator,
  type TextlintRuleModule,
} from '@textlint/kernel'
import { kinds, type Text } from './texts.ts'

/** Phrases to avoid, with advice. Each was in at least 20 texts before all texts were corrected. */
const phrases: [RegExp, string][] = [
  [/(?<!\bthere )\b(?:is|are|was|were|be) none\b/i, 'write “is not a …”, “has no …” or an adjective'],
  [
    /\b(?:that|which|what|than|as|all|where|who) there (?:is|are|was|were)\b|\bthere (?:is|are|was|were)(?: not)?(?=[.,;:)!]|$)/i,
    'name the thing: “an unknown topic”',
  ],
  [/\bof (?:ours|theirs|yours|mine|one[’']s own)\b/i, 'write “our …”, “their …”, “your …”'],
  [/\b(?:stands?|stood|standing) in\b/i, 'write “is in” or “replaces”'],
  [
    /\b(?:that|which|what|one|only|it|not|never|here) counts?(?=[.,;:)]|$)|\bcounts? (?:as|alike|here|too|as well)\b/i,
    'write “applies”, “is used”, “is treated as” or “matters”',
  ],
  [/\b(?:told|tells|says|said)\b/i, 'write “reports”, “states”, “shows” or “receives”'],
  [/\bwho(?:m|so)?ever\b/i, 'name the person: “the caller”, “anyone who …”'],
  [/\b(?:no|some)body\b/i, 'name the person, or use the passive'],
  [/\b(?:anew|once more)\b/i, 'write “again”'],
  [/\bbesides?\b/i, 'write “also”, “next to” or “compared with”'],
  [/\b(?:go|goes|went|going|gone) on\b/i, 'write “continues”'],
  [/\bby (?:itself|themselves)\b/i, 'write “automatically” or “alone”'],
  [/\b(?:takes?|took|taken|taking)[ -]in\b(?! (?:total|\d|milliseconds|seconds|minutes|hours))/i, 'write “accepts”'],
  [/\b(?:comes?|came|coming) to\b/i, 'write “results in”, “reaches” or “is”'],
  [/\b(?:he|him|his|himself|she|her|hers|herself)\b/i, 'write “they” or name the role'],
]

/** Matches the end of a sentence, with the beginning of the next one. */
const end = String.raw`[.!?]["'”’)]* ["'“‘(]*[\p{Lu}\d]`

const longSentence: [RegExp, string] = [
  new RegExp(String.raw`(?<!\S)(?:(?!\S*${end})\S+ ){25}\S*[\p{L}\d]`, 'u'),
  'more than 25 words: split the sentence, or leave words out',
]

const negation = String.raw`(?:\b(?:[Nn](?:ot?|ever|one|othing|obody|owhere|either)|[Cc]annot|[Ww]ithout)\b|n[’']t\b)`
const negations: [RegExp, string] = [
  new RegExp(`${negation}(?:(?!${end}).)*?${negation}`, 'u'),
  'two negations in one sentence: write the positive form, or two sentences',
]

const openings: Record<Exclude<Text['kind'], 'string'>, [RegExp, string][]> = {
  'doc comment': [
    [
      /^(?:of|by(?! default)|what|who|whose|whether|that|which|how|why)\b|^(?:where|when|if|as|at|in|on|for|from|to|with|without|before|after|between|under|above|against|per|since|until|within|through|and|but|or|because)\b(?!.*, )/i,
      'begin with a verb such as “Returns”, or with the noun',
    ],
  ],
  'test title': [
    [
      /^(?:of|by|what|who|whose|whom|which|that|whether|how|why|where|when|if|and|but|or|for|to|in|on|at|from|with|without|as|also|is|are|was|were|has|have|had|can|may|must|be|not|nor|only if)\b/i,
      'begin with a verb such as “rejects”, or with the subject',
    ],
  ],
  prose: [[/(?:^|(?<=[.!] ))what\b(?=[^?]*$)/i, 'name the subject instead of “what …”']],
}

const load = createRequire(import.meta.url)
const { default: pattern }: { default: TextlintRuleModule } = load('@textlint-rule/textlint-rule-pattern')
const { default: plugin }: { default: TextlintPluginCreator } = load('@textlint/textlint-plugin-text')

function rulesFor(kind: Text['kind']): TextlintKernelRule[] {
  return [
    patternRule('sentence-length', [longSentence]),
    patternRule('phrases', phrases),
    ...(kind === 'string' ? [] : [patternRule('double-negation', [negations]), patternRule('opening', openings[kind])]),
  ]
}

function patternRule(ruleId: string, pairs: [RegExp, string][]): TextlintKernelRule {
  const options = { patterns: pairs.map(([words, message]) => ({ pattern: String(words), message })) }
  return { ruleId, rule: pattern, options }
}

/** Returns the problems of texts, with the name of the rule, advice, and the words from the problem on. */
export async function problemsOf<T extends Text>(texts: T[]) {
  const kernel = new TextlintKernel()
  const found = kinds.map(async (kind) => {
    // The kernel checks one document per kind, with one text per line.
    const checked = texts.filter((text) => text.kind === kind)
    const { messages } = await kernel.lintText(checked.map(({ text }) => text).join('\n'), {
      ext: '.txt',
      plugins: [{ pluginId: 'text', plugin }],
      rules: rulesFor(kind),
    })
    return messages.map(({ ruleId, message, line, column }) => {
      const text = checked[line - 1] as T
      return { ...text, rule: ruleId, advice: message, words: text.text.slice(column - 1, column + 79) }
    })
  })
  return (await Promise.all(found)).flat()
}
