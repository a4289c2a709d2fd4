import { expect } from 'chai'
import { maskedEvent } from '../src/index.ts'
import { orderId, reduced } from './support/documents.ts'

describe('maskedEvent', () => {
  it('keeps names of fields, and values that the contract allows to be shown', () => {
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

  it('replaces a key that may be personal by its index, and masks items of a list like a field with the name of the list', () => {
    const shown = maskedEvent({ Total: [1, 'Ada'], 'Ada Lovelace': { Id: orderId, nothing: null, is: true } })
    expect(shown).to.deep.equal({
      Total: [1, '*** (3 characters)'],
      '*** 2': { Id: orderId, nothing: null, is: true },
    })
  })

  it('shows only the length of a text, and three stars for a number', () => {
    expect([maskedEvent('Ada'), maskedEvent(7), maskedEvent(null)]).to.deep.equal(['*** (3 characters)', '***', null])
    expect(maskedEvent(orderId, 'OrderId')).to.equal(orderId)
  })
})
