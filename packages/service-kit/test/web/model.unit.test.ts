import { examplePayload } from '@orderflow/envelope'
import { expect } from 'chai'
import { capturedLog } from '../../src/testing/captured-log.ts'
import { jsonBody } from '../../src/web/body.ts'
import { contractFields, model } from '../../src/web/model.ts'

describe('a field of an API', () => {
  it('is as personal as the one of the contract whose rules it takes over, whatever its name', () => {
    const { log, records } = capturedLog()
    const fields = { buyer: 'Ada', payer: 'Ada', sum: 1 }
    const body = jsonBody('Purchase', { buyer: ['OrderCreated@1', 'CustomerName'] })
    const answer = model('Bought', { payer: ['OrderCreated@1', 'CustomerTaxId'], sum: ['OrderCreated@1', 'Total'] })
    log.info(fields)
    expect(records[0]).to.include({ buyer: '***', payer: '***', sum: 1 })
    expect(body.body?.schema).to.have.nested.include({ 'properties.buyer.x-pii': true })
    expect(answer.schema).to.have.nested.include({ 'properties.payer.x-pii': true })
    expect(answer.schema).not.to.have.nested.property('properties.sum.x-pii')
  })

  it('follows from the newest version of an event, without the fields that are left out', () => {
    const fields = contractFields('PaymentRefunded', 'PaymentId', 'Reason')
    expect(fields).to.deep.equal({
      orderId: ['PaymentRefunded', 'OrderId'],
      amount: ['PaymentRefunded', 'Amount'],
    })
    const { body } = jsonBody('Refund', fields, { amount: 42 })
    expect(body?.schema).to.deep.include({
      required: ['orderId', 'amount'],
      example: { orderId: examplePayload('PaymentRefunded').OrderId, amount: 42 },
    })
  })
})
