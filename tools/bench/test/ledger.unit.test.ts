import { expect } from 'chai'
import { ledgerOf, requireComplete } from '../support/ledger.ts'

describe('a ledger', () => {
  it('tells what is lost, what nobody published, and what is there more than once', () => {
    expect(ledgerOf(['a', 'b', 'c'], ['b', 'b', 'b', 'c', 'x'])).to.deep.equal({
      expected: 3,
      lost: 1,
      unknown: 1,
      repeated: 2,
    })
  })

  it('is complete when all is there, however often', () => {
    expect(() => requireComplete('payments', ledgerOf(['a', 'b'], ['b', 'a', 'a']))).not.to.throw()
  })

  it('that misses an event, or has one too many, ends the benchmark and says what was counted', () => {
    expect(() => requireComplete('payments', ledgerOf(['a', 'b'], ['a']))).to.throw(/^payments: .*"lost":1/)
    expect(() => requireComplete('payments', ledgerOf(['a'], ['a', 'b']))).to.throw(/"unknown":1/)
  })
})
