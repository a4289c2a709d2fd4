import { expect } from 'chai'
import fc from 'fast-check'
import { v5 } from 'uuid'
import { completeEnvelope, deterministicId, parseEnvelope } from '../src/index.ts'
import { anyText } from './support/any-text.ts'
import { app, bytesOf, orderId, reduced } from './support/documents.ts'

const origin = { topic: 'orderevents', partition: 3, offset: '42' }
const received = (changes = {}) => parseEnvelope(bytesOf(reduced(changes)))

describe('deterministicId', () => {
  it('never changes for the same parts, since stored keys are made of it', () => {
    expect(deterministicId('order', 'a', 'b')).to.equal('49a9e66f-dbb2-576b-90c1-a4deac37ea50')
  })

  it('is the UUID v5 of the list of its parts', () => {
    const namespace = '4563ec1f-497b-4618-baf9-8485edb38c08'
    fc.assert(
      fc.property(anyText(), fc.array(anyText()), (kind, parts) => {
        expect(deterministicId(kind, ...parts)).to.equal(v5(JSON.stringify([kind, ...parts]), namespace))
      }),
    )
  })

  it('tells apart how the parts are split and what they are for', () => {
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

  it('takes any text, lone surrogates too', () => {
    expect(deterministicId('order', '\ud800')).not.to.equal(deterministicId('order', '\udc00'))
  })
})

describe('completeEnvelope', () => {
  it('gives a reduced envelope the same ids at every receiver', () => {
    const complete = completeEnvelope(received(), origin)
    expect(completeEnvelope(received(), { ...origin, partition: '3', offset: 42 })).to.deep.equal(complete)
    expect(complete.Id).to.match(/^[0-9a-f-]{36}$/)
    expect(complete.TraceId).to.equal(complete.CorrelationId)
    expect(complete.TraceId).not.to.equal(complete.Id)
    expect(complete).to.deep.include(reduced())
  })

  it('never gives other ids to what stands in a log', () => {
    const { Id, TraceId } = completeEnvelope(received(), origin)
    expect(Id).to.equal(deterministicId('event', 'orderevents', '3', '42'))
    expect(TraceId).to.equal(deterministicId('trace', 'orderevents', '3', '42'))
  })

  it('gives each record ids of its own', () => {
    const origins = [origin, { ...origin, offset: '43' }, { ...origin, partition: 4 }, { ...origin, topic: 'other' }]
    const ids = origins.flatMap((one) => {
      const { Id, TraceId } = completeEnvelope(received(), one)
      return [Id, TraceId]
    })
    expect(new Set(ids)).to.have.lengthOf(8)
  })

  it('lets CorrelationId and TraceId stand in for one another', () => {
    expect(completeEnvelope(received({ TraceId: orderId }), origin).CorrelationId).to.equal(orderId)
    expect(completeEnvelope(received({ CorrelationId: orderId }), origin).TraceId).to.equal(orderId)
  })

  it('changes no id that is there', () => {
    const ids = { Id: orderId, CorrelationId: app.id, TraceId: orderId }
    expect(completeEnvelope(received(ids), origin)).to.deep.equal(received(ids))
  })
})
