import { HttpProblem } from '@orderflow/service-kit'
import { expect } from 'chai'
import { readFilter } from '../src/routes/requests.ts'

const guid = '0d4f1d0e-6d0e-4f3c-8a51-5b1f0a8b7c6d'

describe('the filter of a query', () => {
  const problemsOf = (query: Record<string, unknown>) => {
    try {
      return readFilter(query)
    } catch (error) {
      if (error instanceof HttpProblem) return error.options.errors
      throw error
    }
  }

  it('accepts a time with an offset, with or without seconds', () => {
    for (const from of ['2026-01-31T12:00Z', '2026-01-31T12:00:00.5+01:00'])
      expect(readFilter({ from })).to.deep.equal({ from })
  })

  it('refuses a date that does not exist, 24:00 and a leap second', () => {
    const form = 'must be a date-time with an offset, such as 2026-01-31T12:00:00Z'
    for (const [to, hint] of [
      ['2026-02-30T00:00:00Z', 'name a day that exists: this month is shorter'],
      ['2026-02-28T24:00:00Z', 'write 24:00 as 00:00 of the next day'],
      ['2016-12-31T23:59:60Z', 'write a leap second as second 59, or as second 00 of the next minute'],
    ])
      expect(problemsOf({ to }), to).to.deep.equal([{ pointer: 'to', detail: `${form}; ${hint}` }])
  })

  it('accepts a GUID in every usual spelling', () => {
    for (const text of [guid.toUpperCase(), guid.replaceAll('-', ''), `{${guid}}`, `urn:uuid:${guid}`])
      expect(readFilter({ guid: text }), text).to.deep.equal({ guid })
    expect(problemsOf({ guid: 'x' }))
      .to.have.nested.property('[0].detail')
      .that.matches(/^is not a GUID/)
  })
})
