import type { Rule } from './rule.ts'

const openings =
  /^(?:of|by|what|who|whose|whom|which|that|whether|how|why|where|when|if|and|but|or|for|to|in|on|at|from|with|without|as|also|is|are|was|were|has|have|had|can|may|must|be|not|nor|only if)\b/i
const auxiliaries = /\b(?:is|are|was|were|has|have|had|does|do|did|can|cannot|may|must|will|would|should)\b/i
/** A word that may be a verb in the third person or in the past. A plural may look the same, so the rule misses some titles. */
const verb = /\b(?!(?:this|its|always|unless|less|as|class|status|address|process|access)\b)\p{Ll}+(?:s|ed)\b/u

/** Reports titles of tests that are not whole sentences. */
export const testTitle: Rule = {
  name: 'test-title',
  kinds: ['test title'],
  examples: [
    { bad: 'is refused', good: 'refuses an expired token' },
    { bad: 'of a tombstone is that it is none', good: 'reports a tombstone as a deleted document' },
    { bad: 'an order with a text as amount', good: 'rejects an order whose amount is a string' },
  ],
  check: (title) => {
    const report = (fix: string) => [{ index: 0, length: title.length, fix }]
    const opening = title.match(openings)?.[0]
    if (opening) return report(`“${opening}”: begin with a verb such as “rejects”, or with the subject`)
    if (title.split(' ').length < 3) return report('fewer than three words: name the subject or the object')
    return auxiliaries.test(title) || verb.test(title) ? [] : report('no verb: write a whole sentence')
  },
}
