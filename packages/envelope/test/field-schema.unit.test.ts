import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { expect } from 'chai'
import { fieldSchema, payloadFields } from '../src/index.ts'
import { orderCreated } from './support/documents.ts'

describe('fieldSchema', () => {
  it('includes the shared rules, with the description of the field', () => {
    expect(fieldSchema('OrderCreated@1', 'Total')).to.deep.equal({
      type: 'number',
      minimum: 0,
      maximum: 1_000_000_000_000,
      description: 'The price of the order.',
    })
  })

  it('describes a GUID by its format', () => {
    expect(fieldSchema('OrderCreated@1', 'OrderId')).to.deep.equal({
      type: 'string',
      format: 'uuid',
      description: 'The new order.',
    })
  })

  it('keeps a pattern if no format replaces it', () => {
    expect(fieldSchema('OrderCreated@1', 'CustomerName').pattern).to.match(/^\[\^/)
  })

  it('keeps limits of length and lists of values', () => {
    expect(fieldSchema('OrderCreated@1', 'CustomerTaxId')).to.include({ type: 'string', minLength: 1, maxLength: 64 })
    expect(fieldSchema('PaymentApproved@1', 'Policy')).to.include({ type: 'string', minLength: 1, maxLength: 200 })
    expect(fieldSchema('PaymentApproved@1', 'Source')).to.deep.include({
      type: 'string',
      enum: ['OrderCreated', 'Manual'],
    })
  })

  it('marks personal fields', () => {
    expect(fieldSchema('OrderCreated@1', 'CustomerTaxId')).to.include({ 'x-pii': true })
  })

  it('returns schemas that accept a valid payload and reject an invalid one', () => {
    const names = payloadFields('OrderCreated@1')
    const properties = Object.fromEntries(names.map((name) => [name, fieldSchema('OrderCreated@1', name)]))
    const ajv = new Ajv({ strict: true })
    formats.default(ajv)
    ajv.addKeyword('x-pii')
    const validate = ajv.compile({ type: 'object', required: names, properties })
    expect(validate(orderCreated)).to.equal(true)
    expect(validate({ ...orderCreated, OrderId: 'x' })).to.equal(false)
  })

  it('rejects a field that the event does not have', () => {
    expect(() => fieldSchema('OrderCreated@1', 'Customer')).to.throw(
      'the schema of OrderCreated@1 has no field Customer',
    )
    expect(() => fieldSchema('OrderCreated@1', '__proto__')).to.throw('has no field')
    // @ts-expect-error an unknown version
    expect(() => fieldSchema('OrderCreated@99', 'Total')).to.throw('OrderCreated@99 has no schema')
  })
})

describe('payloadFields', () => {
  it('lists the fields in the order of the schema', () => {
    expect(payloadFields('OrderCreated@1')).to.deep.equal(['OrderId', 'CustomerName', 'CustomerTaxId', 'Total'])
  })
})
