import { type Rule, sentencesOf } from './rule.ts'

const fragments = /^(?:of|by(?! default)|what|who|whose|whether|that|which|how|why)\b/i
/** Matches the beginning of a fragment, unless a main clause follows after a comma. */
const openings =
  /^(?:where|when|if|as|at|in|on|for|from|to|with|without|before|after|between|under|above|against|beside|per|since|until|within|through|and|but|or|because)\b/i

/** Reports doc comments that begin with a fragment instead of a verb in the third person or a noun. */
export const docCommentStart: Rule = {
  name: 'doc-comment-start',
  kinds: ['doc comment'],
  examples: [
    { bad: 'Whether the topic is known.', good: 'Returns true if the topic is known.' },
    { bad: 'Of each service, its port.', good: 'The port of each service.' },
    { bad: 'For tests.', good: 'Starts a broker for tests.' },
  ],
  check: (text) => {
    const [first] = sentencesOf(text)
    const sentence = first?.sentence ?? ''
    const found = sentence.match(fragments) ?? (/, /.test(sentence) ? null : sentence.match(openings))
    return found
      ? [
          {
            index: 0,
            length: found[0].length,
            fix: `“${found[0]}”: begin with a verb such as “Returns”, or with the noun`,
          },
        ]
      : []
  },
}
