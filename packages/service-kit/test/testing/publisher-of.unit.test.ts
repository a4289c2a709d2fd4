import { expect } from 'chai'
import { publisherOf, underKey } from '../../src/testing/index.ts'

describe('the publisher of a test event', () => {
  it('is the service that publishes the event', () => {
    expect(publisherOf('OrderCreated').name).to.equal('order-service')
    expect(publisherOf('PaymentRefunded').name).to.equal('payment-service')
  })

  it('is an outside application if no service publishes the event', () => {
    const { id, name } = publisherOf('RoomBooked')
    expect(name).not.to.match(/-service$|^event-/)
    expect(id).to.match(/^[\da-f]{8}-/)
  })
})

describe('a test event', () => {
  const Payload = { OrderId: 'a', CustomerName: 'Ada' }

  it('has the key of its topic', () => {
    const event = { Id: '1', Payload }
    expect(underKey('orderevents', event)).to.deep.equal({ topic: 'orderevents', key: 'a', envelope: event })
  })

  it('has no key if its Payload lacks a field of the key', () => {
    expect(underKey('orderevents', { Id: '1', Payload: {} }).key).to.equal(undefined)
  })
})
