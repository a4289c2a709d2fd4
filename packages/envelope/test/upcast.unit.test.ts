import { expect } from 'chai'
import { upcastPayload } from '../src/envelope/parse.ts'
import {
  completeEnvelope,
  createEnvelope,
  type Envelope,
  eventTypes,
  examplePayload,
  fieldSchema,
  fieldValidator,
  isGuidField,
  payloadFields,
  personalFields,
  typeOf,
  upcast,
} from '../src/index.ts'
import { app, bytesOf, orderCreated, orderId, reduced } from './support/documents.ts'

const text = { type: 'string' }
const number = { type: 'number' }
const schema = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const upcastBetween = (payload: object, ...schemas: object[]) => upcastPayload(payload, schemas)

describe('upcastPayload', () => {
  it('returns an equal payload if the next version only adds a field', () => {
    const [one, two] = [schema({ Id: text }), schema({ Id: text, Note: text })]
    expect(upcastBetween({ Id: '1' }, one, two)).to.deep.equal({ Id: '1' })
  })

  it('leaves out a value that the older version did not check, at any depth', () => {
    const [line, noted] = [schema({ Sku: text }), schema({ Sku: text, Note: text })]
    const one = schema({ Lines: { type: 'array', items: line }, First: line })
    const two = schema({ Lines: { type: 'array', items: noted }, First: noted, Note: text })
    const given = { Lines: [{ Sku: 'a', Note: 1 }], First: { Sku: 'b', Note: [] }, Note: {} }
    expect(upcastBetween(given, one, two)).to.deep.equal({ Lines: [{ Sku: 'a' }], First: { Sku: 'b' } })
  })

  it('leaves out a field that only the older version names, and keeps unnamed fields', () => {
    const [one, two] = [schema({ Id: text, Old: text }), schema({ Id: text })]
    expect(upcastBetween({ Id: '1', Old: 'o', Extra: 2 }, one, two)).to.deep.equal({ Id: '1', Extra: 2 })
  })

  it('fills the fields of x-upcast from values of the older payload and from constants', () => {
    const declared = {
      Total: { Amount: { 'x-from': '/Total' }, Currency: 'EUR' },
      Buyer: { 'x-from': '/Customer/Name' },
      Tags: [{ 'x-from': '/Total' }, 'paid'],
    }
    const one = schema({ Total: number, Customer: schema({ Name: text }) })
    const two = schema({ Total: schema({}), Buyer: text, Tags: {} }, { 'x-upcast': declared })
    expect(upcastBetween({ Total: 4, Customer: { Name: 'Ada' } }, one, two)).to.deep.equal({
      Total: { Amount: 4, Currency: 'EUR' },
      Buyer: 'Ada',
      Tags: [4, 'paid'],
    })
  })

  it('leaves out a declared field if the older payload has no value for it', () => {
    const two = schema({ Buyer: text }, { 'x-upcast': { Buyer: { 'x-from': '/Customer/Name' } } })
    expect(upcastBetween({}, schema({ Customer: {} }), two)).to.deep.equal({})
  })

  it('converts a payload step by step through every version in between', () => {
    const [one, two] = [schema({ A: text }), schema({ B: text }, { 'x-upcast': { B: { 'x-from': '/A' } } })]
    const three = schema({ C: text }, { 'x-upcast': { C: { 'x-from': '/B' } } })
    expect(upcastBetween({ A: 'a' }, one, two, three)).to.deep.equal({ C: 'a' })
  })
})

describe('upcast', () => {
  const event = completeEnvelope(reduced() as unknown as Envelope, { value: bytesOf(''), key: bytesOf('') } as never)

  it('returns an event of the newest version unchanged', () => {
    const created = { app, creationDate: new Date(), payload: orderCreated }
    const newest = createEnvelope({ ...created, type: 'OrderCreated' })
    expect(upcast(newest)).to.equal(newest)
  })

  it('returns an event with an unknown name or a later version unchanged', () => {
    for (const changes of [{ Name: 'ParcelSent' }, { Version: 99 }]) {
      const other = { ...event, ...changes }
      expect(upcast(other as never)).to.equal(other)
    }
  })
})

describe('newestType', () => {
  it('returns the newest version of a name', () => {
    const created = { app, creationDate: new Date(), payload: orderCreated }
    const versions = eventTypes.filter((type) => type.startsWith('OrderCreated@'))
    expect(typeOf(createEnvelope({ ...created, type: 'OrderCreated' }))).to.equal(versions.at(-1))
    expect(payloadFields('OrderCreated')).to.include.members(['OrderId', 'Total'])
    expect(examplePayload('OrderCreated')).to.deep.equal(examplePayload(versions.at(-1) as 'OrderCreated@1'))
    expect(fieldSchema('OrderCreated', 'CustomerName')).to.include({ 'x-pii': true })
    expect(isGuidField('OrderCreated', 'OrderId')).to.equal(true)
    expect(personalFields('OrderCreated')).to.include('/Payload/CustomerName')
    expect(fieldValidator({ id: ['OrderCreated', 'OrderId'] })({ id: orderId })).to.deep.equal([])
  })
})
