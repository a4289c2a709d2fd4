import { expect } from 'chai'
import { ownLintRules } from './lint-rules.ts'

const declared = `const call = (...values) => values
const [first, data] = [[], []]
class Numbers extends Array {}
`

/** Code that passes the elements of a list of any length as separate arguments of a call. */
const refused = [
  'first.push(...data)',
  'first?.push?.(...data)',
  'first.unshift(...data)',
  'first.splice(0, 1, ...data)',
  'Math.max(0, ...data)',
  'Math.min(...data.map((value) => value + 1))',
  'String.fromCharCode(...data)',
  'Object.assign({}, ...data)',
  'call(1, ...data, 2)',
  'new Numbers(...data)',
  'class More extends Numbers { constructor() { super(...data) } }',
  'call.apply(null, data)',
  'Reflect.apply(call, null, data)',
  'const outer = (...own) => call(...data, own.length)',
]

/** Code that works for lists of any length, or that forwards the arguments of its caller. */
const accepted = [
  'call([...first, ...data])',
  'call({ ...data })',
  'new Set([...first, ...data])',
  'const forward = (...own) => call(0, ...own)',
  'function forwards(...own) { return call(...own) }',
  'class Forward extends Numbers { constructor(...own) { super(...own) } }',
  '// biome-ignore lint/plugin/no-spread-arguments: three at most\ncall(...data)',
]

describe('the lint rule no-spread-arguments', () => {
  const lint = ownLintRules()
  const problems = (statement: string, path: string) => lint(`${declared}${statement}\n`, path)

  for (const statement of refused) {
    it(`refuses the code ${statement}`, () => {
      const [message, ...others] = problems(statement, 'src/sample.ts')
      expect(message).to.contain('must not').and.contain('120,000').and.contain('biome-ignore')
      expect(others).to.deep.equal([])
    })
  }

  for (const statement of accepted) {
    it(`accepts the code ${statement.split('\n')[0]}`, () => {
      expect(problems(statement, 'src/sample.ts')).to.deep.equal([])
    })
  }

  it('checks files with JSX, and also scripts', () => {
    for (const path of ['page/sample.tsx', 'static/sample.js', 'sample.mjs']) {
      expect(problems('first.push(...data)', path), path).to.have.length(1)
    }
  })

  it('ignores tests, because tests choose their own data', () => {
    for (const path of ['test/support/sample.ts', 'package/test/sample.ts', 'src/sample.unit.test.ts']) {
      expect(problems('first.push(...data)', path), path).to.deep.equal([])
    }
  })
})
