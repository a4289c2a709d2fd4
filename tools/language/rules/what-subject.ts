import { type Rule, sentencesOf } from './rule.ts'

/** Reports sentences whose subject is a clause with “what”. Questions are allowed. */
export const whatSubject: Rule = {
  name: 'what-subject',
  kinds: ['comment', 'UI text', 'API description', 'message', 'help', 'schema', 'prose', 'heading'],
  examples: [{ bad: 'What is stored has an id.', good: 'Every stored document has an id.' }],
  check: (text) =>
    sentencesOf(text)
      .filter(({ sentence }) => /^what\b/i.test(sentence) && !sentence.endsWith('?'))
      .map(({ index }) => ({ index, length: 4, fix: 'name the subject instead of “what …”' })),
}
