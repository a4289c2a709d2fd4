import { type Rule, sentencesOf } from './rule.ts'

const most = 25
const wordsOf = (sentence: string) => sentence.split(' ').filter((word) => /[\p{L}\d\uFFFC]/u.test(word))

export const sentenceLength: Rule = {
  name: 'sentence-length',
  examples: [
    {
      bad: 'A service that is started without a key reads the file of the stack, and where this file has no key for the service, it writes a new one there.',
      good: 'A service without a key reads the file of the stack. If the file has no key for the service, it writes a new one.',
    },
  ],
  check: (text) =>
    sentencesOf(text).flatMap(({ index, sentence }) => {
      const { length: count } = wordsOf(sentence)
      return count > most
        ? [{ index, length: sentence.length, fix: `${count} words: split the sentence, or leave words out` }]
        : []
    }),
}
