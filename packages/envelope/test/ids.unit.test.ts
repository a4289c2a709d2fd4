import { expect } from 'chai'
import fc from 'fast-check'
import { v5 } from 'uuid'
import { completeEnvelope, deterministicId, parseEnvelope, type ReceivedEnvelope, recordId } from '../src/index.ts'
import { anyText } from './support/any-text.ts'
import { app, bytesOf, orderId, reduced } from './support/documents.ts'

const origin = { topic: 'orderevents', partition: 3, offset: '42' }
const received = (changes = {}) => parseEnvelope(bytesOf(reduced(changes)))

describe('deterministicId', () => {
  it('never changes for the same parts, because stored keys depend on it', () => {
    expect(deterministicId('order', 'a', 'b')).to.equal('49a9e66f-dbb2-576b-90c1-a4deac37ea50')
  })

  it('returns the UUID v5 of the list of its parts', () => {
    const namespace = '4563ec1f-497b-4618-baf9-8485edb38c08'
    fc.assert(
      fc.property(anyText(), fc.array(anyText()), (kind, parts) => {
        expect(deterministicId(kind, ...parts)).to.equal(v5(JSON.stringify([kind, ...parts]), namespace))
      }),
    )
  })

  it('returns different ids for another kind, or for parts split in another way', () => {
    const ids = [
      deterministicId('order', 'a', 'b'),
      deterministicId('order', 'a,b'),
      deterministicId('order', 'a","b'),
      deterministicId('order', 'ab'),
      deterministicId('order', 'a', 'b', ''),
      deterministicId('payment', 'a', 'b'),
    ]
    expect(new Set(ids)).to.have.lengthOf(ids.length)
  })

  it('accepts any text, including lone surrogates', () => {
    expect(deterministicId('order', '\ud800')).not.to.equal(deterministicId('order', '\udc00'))
  })
})

const none = {} as ReceivedEnvelope
const content = (changes = {}, key?: string) => ({
  value: bytesOf(reduced(changes)),
  ...(key !== undefined && { key: Buffer.from(key) }),
})

describe('recordId', () => {
  it('returns a different id if the value, key or time differs', () => {
    const records = [content(), content({ Version: 2 }), content({}, 'k'), content({}, 'l')]
    const ids = records.flatMap((record) => [
      completeEnvelope(none, record).Id,
      recordId({ ...record, timestamp: 1 }),
      recordId({ ...record, timestamp: 2 }),
    ])
    expect(new Set(ids)).to.have.lengthOf(ids.length)
  })
})

describe('completeEnvelope', () => {
  it('gives a reduced envelope the same ids at every receiver and every record position', () => {
    const complete = completeEnvelope(received(), content({}, 'k'))
    expect(completeEnvelope(received(), content({}, 'k'))).to.deep.equal(complete)
    expect(complete.TraceId).to.equal(complete.CorrelationId)
    expect(complete.TraceId).not.to.equal(complete.Id)
    expect(complete).to.deep.include(reduced())
  })

  it('derives ids from a position for a record without an event', () => {
    const { Id, TraceId } = completeEnvelope(received(), origin)
    expect(Id).to.equal(deterministicId('event', 'orderevents', '3', '42'))
    expect(TraceId).to.equal(deterministicId('trace', 'orderevents', '3', '42'))
  })

  it('copies a missing CorrelationId from TraceId, and vice versa', () => {
    expect(completeEnvelope(received({ TraceId: orderId }), content()).CorrelationId).to.equal(orderId)
    expect(completeEnvelope(received({ CorrelationId: orderId }), content()).TraceId).to.equal(orderId)
  })

  it('keeps existing ids', () => {
    const ids = { Id: orderId, CorrelationId: app.id, TraceId: orderId }
    expect(completeEnvelope(received(ids), content())).to.deep.equal(received(ids))
  })
})
