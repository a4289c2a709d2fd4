import { expect } from 'chai'
import { problemsOf } from '../rules.ts'
import type { Text } from '../texts.ts'

async function rulesThatReport(text: string, kind: Text['kind']): Promise<string[]> {
  return (await problemsOf([{ kind, line: 1, text }])).map(({ rule }) => rule)
}

/** A wrong text for each rule, and its correction. */
const examples: [string, Text['kind'], string, string][] = [
  [
    'sentence-length',
    'string',
    'A service that is started without a key reads the file of the stack, and where this file has a gap for the service, it writes a key there.',
    'A service without a key reads the file of the stack, e.g. keys.json. If the file has no key for the service, it writes a new one. It also signs it.',
  ],
  ['phrases', 'string', 'Events that nobody reads are deleted.', 'Unread events are deleted. There are none left.'],
  ['phrases', 'test title', 'tells which service failed', 'names the service that failed'],
  [
    'double-negation',
    'prose',
    'It waits. No record, e.g. of A, is not read.',
    'No record waits. Without a key, it reads all.',
  ],
  ['opening', 'prose', 'It waits. What is stored has an id.', 'It waits. Every stored document has an id.'],
  ['opening', 'doc comment', 'Whether the topic is known.', 'Returns true if the topic is known.'],
  ['opening', 'doc comment', 'For tests.', 'By default, the broker of tests.'],
  ['opening', 'test title', 'is refused when late', 'refuses a late event'],
]

describe('the rules of language', () => {
  for (const [rule, kind, wrong, right] of examples) {
    it(`report “${wrong}” (${kind}) by ${rule}`, async () => {
      expect(await rulesThatReport(wrong, kind)).to.deep.equal([rule])
    })

    it(`accept “${right}” (${kind})`, async () => {
      expect(await rulesThatReport(right, kind)).to.deep.equal([])
    })
  }

  it('return the words from each problem on, and the place of its text', async () => {
    const texts = [
      { kind: 'prose' as const, line: 1, text: 'It waits.' },
      { kind: 'prose' as const, line: 7, text: 'It reads anew, and anew.' },
    ]
    expect((await problemsOf(texts)).map(({ line, words }) => [line, words])).to.deep.equal([
      [7, 'anew, and anew.'],
      [7, 'anew.'],
    ])
  })
})
