import type { Rule } from './rule.ts'

/** Reports titles of suites that do not name what they test. */
export const suiteTitle: Rule = {
  name: 'suite-title',
  kinds: ['suite title'],
  examples: [{ bad: 'what a header says', good: 'trace headers' }],
  check: (title) => {
    const opening = title.match(/^(?:of|by|what|who|whose|which|that|whether|how|why|and|but|or|is|are)\b/i)?.[0]
    return opening
      ? [{ index: 0, length: title.length, fix: `“${opening}”: name the function, component or feature under test` }]
      : []
  },
}
