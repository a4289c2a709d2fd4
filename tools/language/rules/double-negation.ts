import { type Rule, sentencesOf } from './rule.ts'

const negations = /\b(?:not|no|never|none|nothing|nobody|nowhere|cannot|neither|without)\b|n[’']t\b/gi

export const doubleNegation: Rule = {
  name: 'double-negation',
  examples: [
    { bad: 'A service without a token does not start.', good: 'A service needs a token to start.' },
    { bad: 'No record is not read.', good: 'Every record is read.' },
  ],
  check: (text) =>
    sentencesOf(text).flatMap(({ index, sentence }) => {
      const found = [...sentence.matchAll(negations)].map(([word]) => `“${word}”`)
      return found.length > 1
        ? [
            {
              index,
              length: sentence.length,
              fix: `${found.join(' and ')} in one sentence: write the positive form, or two sentences`,
            },
          ]
        : []
    }),
}
