import { expect } from 'chai'
import { maskedEvent } from '../src/index.ts'
import { orderId, reduced } from './support/documents.ts'

describe('an event that is shown', () => {
  it('has its names, and of its values those that the contract lets be shown', () => {
    expect(maskedEvent(reduced({ TenantUserID: 'ada', Note: 7 }))).to.deep.equal({
      ...reduced(),
      TenantUserID: '*** (3 characters)',
      Note: '***',
      Payload: {
        OrderId: orderId,
        CustomerName: '*** (12 characters)',
        CustomerTaxId: '*** (12 characters)',
        Total: 42.5,
      },
    })
  })

  it('has the place of a name that may be personal itself, and of a list what its own name lets be shown', () => {
    const shown = maskedEvent({ Total: [1, 'Ada'], 'Ada Lovelace': { Id: orderId, nothing: null, is: true } })
    expect(shown).to.deep.equal({
      Total: [1, '*** (3 characters)'],
      '*** 2': { Id: orderId, nothing: null, is: true },
    })
  })

  it('is nothing but its length when it is a text, and three stars when it is a number', () => {
    expect([maskedEvent('Ada'), maskedEvent(7), maskedEvent(null)]).to.deep.equal(['*** (3 characters)', '***', null])
    expect(maskedEvent(orderId, 'OrderId')).to.equal(orderId)
  })
})
