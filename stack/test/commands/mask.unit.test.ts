import { expect } from 'chai'
import { maskTaxId, stringifyMasked } from '../../src/commands/mask.ts'

describe('a tax id that is shown', () => {
  it('keeps its first two characters at most', () => {
    expect(maskTaxId('DEMO-123')).to.equal('DE***')
    expect(maskTaxId('DE12')).to.equal('***')
    expect(maskTaxId('')).to.equal('***')
  })

  it('is masked wherever it is in a document', () => {
    const shown = stringifyMasked({ customerTaxId: 'DEMO-123', Payload: { CustomerTaxId: 'DEMO-123', Total: 1 } })
    expect(shown).to.equal('{"customerTaxId":"DE***","Payload":{"CustomerTaxId":"DE***","Total":1}}')
  })
})
