import { patternRule } from './rule.ts'

/** Reports pronouns that assume that a person is a man or a woman. */
export const pronouns = patternRule('pronouns', [
  {
    words: /\b(?:he|him|his|himself|she|her|hers|herself)\b/i,
    fix: 'write “they” or name the role',
    bad: 'The operator sees his own replays.',
    good: 'Operators see their own replays.',
  },
])
