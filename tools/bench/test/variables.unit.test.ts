import { CliError } from '@orderflow/stack/base'
import { expect } from 'chai'
import { numbersFrom } from '../support/variables.ts'

describe('numbersFrom', () => {
  it('reads the variable, or uses the fallback', () => {
    expect(numbersFrom('RATES', '50 500', { RATES: ' 20  100 ' })).to.deep.equal([20, 100])
    expect(numbersFrom('RATES', '50 500', { RATES: '' })).to.deep.equal([50, 500])
    expect(numbersFrom('RATES', '50 500', {})).to.deep.equal([50, 500])
  })

  for (const text of ['fast', '0', '-1', '50,500', 'Infinity']) {
    it(`rejects ${text} with an error that shows an example`, () => {
      expect(() => numbersFrom('RATES', '50 500', { RATES: text }))
        .to.throw(CliError, `RATES=${text} is not a list of positive numbers`)
        .with.property('nextStep', 'RATES="50 500", or leave it out')
    })
  }
})
