import { envelopeErrorCodes } from '@orderflow/envelope-schema'
import { expect } from 'chai'
import { corpus } from '../contract/corpus.ts'
import { fixtureBytes, fixtures, type InvalidFixture, type ValidFixture } from '../contract/fixtures.ts'
import type { Example, Question, Verdict } from './example.ts'
import { examples, verdictsOf } from './languages.ts'
import { ownVerdict } from './verdict.ts'

const schemas = ['full', 'received'] as const
/** The variable SEED repeats a run with the same random documents. By default, each run has new documents. */
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 32))

/** The number of documents for each validator. With these numbers, all validators run for a similar time. */
const counts: Record<string, number> = { python: 10_000, go: 100_000, java: 20_000 }

const asked = [...fixtures<ValidFixture>('valid'), ...fixtures<InvalidFixture>('invalid')].flatMap((fixture) =>
  schemas.map((check) => {
    const question: Question = { check, base64: fixtureBytes(fixture).toString('base64') }
    const told: Partial<Verdict> | undefined =
      'check' in fixture && fixture.check === check
        ? { code: fixture.code, pointers: fixture.problems.map(({ pointer }) => pointer).sort() }
        : undefined
    return { name: `${fixture.file} by ${check}`, question, isRight: fixture.verdict[check], told }
  }),
)

describe('the validator of each language', () => {
  let found: Example[]
  before(async function () {
    this.timeout(600_000)
    found = (await examples()).filter(({ check }) => check)
    expect(found.map(({ language }) => language)).to.deep.equal(Object.keys(counts))
  })

  it('returns the expected verdict, code and pointers for every fixture and both schemas', async () => {
    for (const example of found) {
      const verdicts = await verdictsOf(
        example,
        asked.map(({ question }) => question),
      )
      const wrong = asked.flatMap(({ name, isRight, told, question }, index) => {
        const verdict = verdicts[index]
        const expected = told ?? ownVerdict(question)
        const isSame = verdict && (verdict.code === 'ok') === isRight && same(expected as Verdict, verdict, question)
        return isSame ? [] : [`${name}: ${JSON.stringify(verdict)}, not ${JSON.stringify(expected)}`]
      })
      expect(wrong, example.language).to.deep.equal([])
    }
  })

  it('returns the same code and pointers as the project’s own validator for random documents', async function () {
    this.timeout(900_000)
    const most = Math.max(...Object.values(counts))
    const questions = Array.from(corpus(seed, most), (bytes, index): Question => {
      return { check: schemas[index % 2] ?? 'full', base64: bytes.toString('base64') }
    })
    const own = questions.map(ownVerdict)
    const byCode = Map.groupBy(own, ({ code }) => code)
    console.log(`      SEED=${seed}: ${[...byCode].map(([code, all]) => `${all.length} ${code}`).join(', ')}`)
    // The documents must break each rule often enough, because a corpus with only a few kinds of errors proves little.
    for (const code of ['ok', ...envelopeErrorCodes])
      expect(byCode.get(code)?.length ?? 0, code).to.be.above(most / 1_000)
    for (const example of found) {
      const given = questions.slice(0, counts[example.language])
      const since = performance.now()
      const verdicts = await verdictsOf(example, given)
      console.log(`      ${example.language}: ${given.length} in ${Math.round((performance.now() - since) / 1_000)} s`)
      expect(verdicts).to.have.length(given.length)
      const wrong = given.flatMap((question, index) =>
        same(own[index] as Verdict, verdicts[index] as Verdict, question)
          ? []
          : [
              `by ${question.check}: ${JSON.stringify(own[index])}, ${example.language} ${JSON.stringify(verdicts[index])}: ${Buffer.from(question.base64, 'base64')}`,
            ],
      )
      expect(wrong.slice(0, 5), `${wrong.length} of SEED=${seed}`).to.deep.equal([])
    }
  })
})

/**
 * Compares two verdicts. A validator may reject deep nesting before all other faults, even in invalid JSON
 * (envelope-schema/fixtures/README.md).
 */
function same(own: Verdict, other: Verdict, { base64 }: Question): boolean {
  const isSame = own.code === other.code && own.pointers.join() === other.pointers.join()
  const stopped = other.code === 'not-an-envelope' && other.pointers.join() === ''
  return isSame || (stopped && own.code !== 'ok' && levels(Buffer.from(base64, 'base64').toString()) > 64)
}

/** Returns the depth of nested objects and lists in a text, which may be invalid JSON. */
function levels(text: string): number {
  let [deepest, level] = [0, 0]
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[{]|[\]}]/gs)) {
    if (token === '[' || token === '{') deepest = Math.max(deepest, ++level)
    else if (token === ']' || token === '}') level -= 1
  }
  return deepest
}
