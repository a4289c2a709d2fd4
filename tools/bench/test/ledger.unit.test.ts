import { expect } from 'chai'
import { ledgerOf, requireComplete } from '../support/ledger.ts'

describe('ledgerOf', () => {
  it('counts lost, unknown and repeated keys', () => {
    expect(ledgerOf(['a', 'b', 'c'], ['b', 'b', 'b', 'c', 'x'])).to.deep.equal({
      expected: 3,
      lost: 1,
      unknown: 1,
      repeated: 2,
    })
  })

  it('accepts a complete ledger with repeated keys', () => {
    expect(() => requireComplete('payments', ledgerOf(['a', 'b'], ['b', 'a', 'a']))).not.to.throw()
  })

  it('throws an error with the counts if an event is missing or unexpected', () => {
    expect(() => requireComplete('payments', ledgerOf(['a', 'b'], ['a']))).to.throw(/^payments: .*"lost":1/)
    expect(() => requireComplete('payments', ledgerOf(['a'], ['a', 'b']))).to.throw(/"unknown":1/)
  })
})
