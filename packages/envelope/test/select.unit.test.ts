import { expect } from 'chai'
import fc from 'fast-check'
import { type EventType, parseEnvelope, type ReceivedEnvelope, selectEvent, typeOf } from '../src/index.ts'
import { bytesOf, errorOf, orderCreated, orderId, reduced } from './support/documents.ts'

const types = ['OrderCreated@1', 'PaymentApproved@1'] as const
const received = (changes = {}): ReceivedEnvelope => parseEnvelope(bytesOf(reduced(changes)))
const select = (changes = {}) => selectEvent(received(changes), types)

describe('selectEvent', () => {
  it('returns an event of a handled type with its GUIDs in lower case, and keeps the given envelope unchanged', () => {
    const Payload = { ...orderCreated, OrderId: orderId.toUpperCase(), Extra: 1 }
    const envelope = received({ Payload })
    expect(selectEvent(envelope, types)).to.deep.equal({ ...envelope, Payload: { ...Payload, OrderId: orderId } })
    expect(envelope.Payload).to.deep.equal(Payload)
  })

  it('rejects a payload that does not match the schema of its type', () => {
    const { code, problems } = errorOf(() => select({ Payload: { ...orderCreated, Total: -1 } }))
    expect(code).to.equal('invalid-payload')
    expect(problems).to.deep.equal([{ pointer: '/Payload/Total', message: 'must be at least 0' }])
  })

  it('rejects a handled name in another version, and lists the handled versions', () => {
    const { code, problems } = errorOf(() => select({ Version: 2 }))
    expect(code).to.equal('unknown-version')
    expect(problems).to.deep.equal([
      { pointer: '/Version', message: 'is not a handled version', hint: 'handled versions of OrderCreated: 1' },
    ])
  })

  it('rejects a version that has a schema but is not handled', () => {
    const later = ['OrderCreated@10', 'OrderCreated@2'] as string[] as EventType[]
    expect(errorOf(() => selectEvent(received(), later)).problems[0]?.hint).to.equal(
      'handled versions of OrderCreated: 2, 10',
    )
  })

  it('skips events of another application, whatever they contain', () => {
    expect(select({ Name: 'ParcelSent', Payload: {} })).to.equal(undefined)
    expect(select({ Name: '__proto__' })).to.equal(undefined)
    expect(select({ Name: 'OrderCancelled', Payload: {} })).to.equal(undefined)
    expect(select({ Name: 'OrderCancelled', Version: 7 })).to.equal(undefined)
    expect(selectEvent(received(), [])).to.equal(undefined)
  })

  it('rejects a near miss of a handled name, because the event would otherwise be lost', () => {
    for (const Name of ['orderCreated', 'ORDER_CREATED', 'OrderCrated', 'OrderCreated ', 'OrdreCreated']) {
      const { code, problems } = errorOf(() => select({ Name, Version: 7, Payload: {} }))
      expect(code).to.equal('unknown-event')
      expect(problems).to.deep.equal([
        { pointer: '/Name', message: 'is not a known event', hint: 'write OrderCreated' },
      ])
    }
  })

  it('skips near misses of names that it does not handle', () => {
    expect(select({ Name: 'orderCancelled' })).to.equal(undefined)
    expect(errorOf(() => selectEvent(received({ Name: 'orderCancelled' }), ['OrderCancelled@1'])).code).to.equal(
      'unknown-event',
    )
  })

  it('never treats a name with a schema as a near miss', () => {
    const near = ['OrderCreate@1'] as string[] as EventType[]
    expect(selectEvent(received(), near)).to.equal(undefined)
  })

  it('skips any random name that is not close to a handled name', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 200 }), (Name) => {
        fc.pre(Name.toLowerCase().replaceAll(/[^a-z]/g, '').length < 11)
        expect(selectEvent({ ...received(), Name }, types)).to.equal(undefined)
      }),
    )
  })
})

describe('typeOf', () => {
  it('joins Name and Version', () => {
    expect(typeOf(received({ Version: 12 }))).to.equal('OrderCreated@12')
  })

  it('returns different texts for different Names or Versions', () => {
    const envelope = fc.record({ Name: fc.string(), Version: fc.integer({ min: 1, max: 30 }) })
    fc.assert(
      fc.property(envelope, envelope, (one, other) => {
        const equal = one.Name === other.Name && one.Version === other.Version
        return equal === (typeOf(one) === typeOf(other))
      }),
    )
    expect(typeOf({ Name: 'A@1', Version: 1 })).not.to.equal(typeOf({ Name: 'A', Version: 1 }))
  })
})
