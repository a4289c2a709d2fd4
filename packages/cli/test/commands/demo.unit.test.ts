import { expect } from 'chai'
import { stringifyMasked } from '../../src/commands/run/demo.ts'

describe('stringifyMasked', () => {
  it('masks all personal fields of the contract', () => {
    const person = { customerName: 'Ada', customerTaxId: 'DEMO-123' }
    const shown = stringifyMasked({ ...person, Payload: { CustomerName: 'Ada', CustomerTaxId: 'DEMO-123', Total: 1 } })
    const masked = '"customerName":"***","customerTaxId":"***"'
    expect(shown).to.equal(`{${masked},"Payload":{"CustomerName":"***","CustomerTaxId":"***","Total":1}}`)
  })
})
