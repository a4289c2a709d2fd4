import { expect } from 'chai'
import { publisherOf, underKey } from '../../src/testing/index.ts'

describe('publisherOf', () => {
  it('returns the service that publishes the given event', () => {
    expect(publisherOf('OrderCreated').name).to.equal('order-service')
    expect(publisherOf('PaymentRefunded').name).to.equal('payment-service')
  })

  it('returns an outside application if no service publishes the given event', () => {
    const { id, name } = publisherOf('RoomBooked')
    expect(name).not.to.match(/-service$|^event-/)
    expect(id).to.match(/^[\da-f]{8}-/)
  })
})

describe('underKey', () => {
  const Payload = { OrderId: 'a', CustomerName: 'Ada' }

  it('returns an event with the key that the topic declares', () => {
    const event = { Id: '1', Payload }
    expect(underKey('orderevents', event)).to.deep.equal({ topic: 'orderevents', key: 'a', envelope: event })
  })

  it('returns an event without a key if the Payload lacks a field of the key', () => {
    expect(underKey('orderevents', { Id: '1', Payload: {} }).key).to.equal(undefined)
  })
})
