import { examplePayload } from '@orderflow/envelope'
import { expect } from 'chai'
import { capturedLog } from '../../src/testing/captured-log.ts'
import { jsonBody } from '../../src/web/input.ts'
import { contractFields, model } from '../../src/web/model.ts'
import { route } from '../../src/web/route.ts'
import { webWith } from './support/things.ts'

describe('a field of an API', () => {
  const body = jsonBody('Purchase', { buyer: ['OrderCreated@1', 'CustomerName'] }, { buyer: 'Ada' })
  const answer = model<{ payer: string; sum: number }>('Bought', {
    payer: ['OrderCreated@1', 'CustomerTaxId'],
    sum: ['OrderCreated@1', 'Total'],
  })
  const buy = route({
    method: 'post',
    path: '/v1/purchases',
    scope: 'purchases:write',
    summary: 'Buy',
    input: { body },
    answers: { 201: 'It is bought.' },
    body: answer,
    handle: async () => ({ status: 201, body: { payer: 'Ada', sum: 1 } }),
  })

  it('a field that refers to a contract’s field is masked like the contract’s field, even if the two fields have different names', () => {
    expect(body.body?.schema).to.have.nested.include({ 'properties.buyer.x-pii': true })
    expect(answer.schema).to.have.nested.include({ 'properties.payer.x-pii': true })
    expect(answer.schema).not.to.have.nested.property('properties.sum.x-pii')
    const { log, records } = capturedLog()
    webWith({ routes: [buy], problemMembers: { owner: ['OrderCreated@1', 'CustomerName'] }, log })
    log.info({ buyer: 'Ada', payer: 'Ada', owner: 'Ada', sum: 1 })
    expect(records[0]).to.include({ buyer: '***', payer: '***', owner: '***', sum: 1 })
  })

  it('a field is not masked in the log of another service', () => {
    webWith({ routes: [buy] })
    const { log, records } = capturedLog()
    log.info({ buyer: 'Ada' })
    expect(records[0]).to.include({ buyer: 'Ada' })
  })

  it('contractFields returns the fields of a version, except the omitted fields', () => {
    const fields = contractFields('PaymentRefunded@1', 'PaymentId', 'Reason')
    expect(fields).to.deep.equal({
      orderId: ['PaymentRefunded@1', 'OrderId'],
      amount: ['PaymentRefunded@1', 'Amount'],
    })
    const { body } = jsonBody('Refund', fields, { amount: 42 })
    expect(body?.schema).to.deep.include({
      required: ['orderId', 'amount'],
      example: { orderId: examplePayload('PaymentRefunded').OrderId, amount: 42 },
    })
    const all = contractFields('OrderCancelled@1')
    // The compiler knows the fields, too.
    expect(all.orderId).to.deep.equal(['OrderCancelled@1', 'OrderId'])
  })

  it('needs a version, so that a new version of the event leaves the API unchanged', () => {
    const problem = 'PaymentRefunded has no version: write PaymentRefunded@1'
    // @ts-expect-error a name without a version
    expect(() => contractFields('PaymentRefunded')).to.throw(problem)
    // @ts-expect-error a name without a version
    expect(() => model<{ sum: number }>('Refund', { sum: ['PaymentRefunded', 'Amount'] })).to.throw(problem)
    // @ts-expect-error a name without a version
    expect(() => jsonBody<{ sum: number }>('Refund', { sum: ['PaymentRefunded', 'Amount'] })).to.throw(problem)
  })
})
