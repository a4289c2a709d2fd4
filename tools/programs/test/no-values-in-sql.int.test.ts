import { expect } from 'chai'
import { ownLintRules } from './lint-rules.ts'

const value = '$' + '{value}'
const refused = [
  `\`SELECT * FROM events WHERE at = ${value}\``,
  `\`${value} LIMIT ${value}\``,
  `\`DELETE FROM\nruns WHERE id IN (${value})\``,
  `\`INSERT INTO runs (level) VALUES (${value})\``,
]
const accepted = ['`SELECT * FROM events WHERE at = ?`', "'LIMIT ?'", `\`the limit of ${value}\``]

describe('the lint rule no-values-in-sql', () => {
  const lint = ownLintRules()
  const problems = (texts: string[], path: string) => lint(texts.map((text) => `use(${text})\n`).join(''), path)

  it('refuses a value in the text of a statement', () => {
    for (const text of refused) {
      const [message = '', ...others] = problems([text], 'packages/event-monitor/src/sample.ts')
      expect(message, text).to.contain('must not be written into the text of an SQL statement').and.contain('Bind it')
      expect(others).to.deep.equal([])
    }
  })

  it('accepts parameters, and texts that are not SQL', () => {
    expect(problems(accepted, 'packages/event-monitor/src/sample.ts')).to.deep.equal([])
  })

  it('accepts values in the SQL of tests', () => {
    expect(problems(refused, 'packages/event-monitor/test/sample.ts')).to.deep.equal([])
  })
})
