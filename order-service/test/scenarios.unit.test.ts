import { event, later, memorySpecs, request, scenario } from '@orderflow/test-kit/scenario'
import { expect } from 'chai'
import type { OrderFacts } from '../src/order.ts'
import { service } from '../src/service.ts'
import { subject } from './subject.ts'

const OrderId = '7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e11'
const anOrder = { customerName: 'Ada Lovelace', customerTaxId: 'GB-123456789', total: 42.5 }
const created = event('OrderCreated', { OrderId, Total: 42.5 })
const approved = event('PaymentApproved', { OrderId, Amount: 42.5 })
const refunded = event('PaymentRefunded', { OrderId, Amount: 42.5 })
const cancelled = event('OrderCancelled', { OrderId })
const rejected = event('PaymentRejected', { OrderId, Amount: 42.5, Policy: 'expired@1' })
const reminder = { Name: 'OrderReminded', Payload: { OrderId, PayableUntil: '2026-01-01T00:30:00.000Z' } }
const expiry = { Name: 'OrderExpired', Payload: { OrderId, Total: 42.5 } }
const show = request('GET', `/v1/orders/${OrderId}`)

const factsIn = (documents: Record<string, unknown>) => (documents[`order/${OrderId}`] as { state: OrderFacts }).state

describe('order-service in memory', () => {
  memorySpecs(service, subject, {
    reminded: [created, later('15 minutes')],
    expired: [created, later('30 minutes')],
    'cancelled after its expiry': [created, later('30 minutes'), rejected],
    paid: [created, approved],
    refunded: [created, approved, cancelled, refunded],
  })

  it('publishes the order of a request, and stores it', () =>
    scenario(service)
      .when(request('POST', '/v1/orders', anOrder))
      .then({
        answered: { status: 201, body: { status: 'Created', total: 42.5 } },
        published: [{ Name: 'OrderCreated', Payload: { CustomerName: 'Ada Lovelace', Total: 42.5 } }],
      }))

  it('creates one order for two requests with the same Idempotency-Key', () => {
    const place = request('POST', '/v1/orders', anOrder, { 'idempotency-key': 'a-key' })
    return scenario(service)
      .given(place)
      .when(place)
      .then({ answered: { status: 201 }, published: [{ Name: 'OrderCreated' }] })
  })

  it('shows a paid order, whichever event arrives first', () =>
    scenario(service)
      .given(created, approved)
      .when(show)
      .then({ answered: { status: 200, body: { status: 'Paid' } } }))

  it('shows a refunded order, in whatever order its events arrive', () =>
    scenario(service)
      .given(created, approved, cancelled, refunded)
      .when(show)
      .then({ answered: { status: 200, body: { status: 'Refunded' } } }))

  it('reminds the customer of an unpaid order once, after half of the time', async () => {
    await scenario(service).given(created).when(later('14.9 minutes')).then({ published: [] })
    await scenario(service)
      .given(created)
      .when(later('15 minutes'))
      .then({ published: [reminder] })
  })

  it('asks payment-service once about an order that is not paid in time, and waits for its answer', () =>
    scenario(service)
      .given(created, later('15 minutes'), later('15 minutes'))
      .when(later('1 hour'), show)
      .then({ published: [reminder, expiry], answered: { status: 200, body: { status: 'Created' } } }))

  it('cancels an expired order once when payment-service rejects its payment', () =>
    scenario(service)
      .given(created, later('30 minutes'))
      .when(rejected, later('30 minutes'))
      .inOrder()
      .then({
        published: [
          reminder,
          expiry,
          { Name: 'OrderCancelled', Payload: { OrderId }, Headers: { CausationId: rejected.Id } },
        ],
      }))

  it('lets an order neither remind nor expire that was paid just before', () =>
    scenario(service)
      .given(created, approved, later('30 minutes'))
      .when(show)
      .then({ published: [], answered: { status: 200, body: { status: 'Paid' } } }))

  it('shows an order as paid whose payment arrives after its expiry', () =>
    scenario(service)
      .given(created, later('30 minutes'), approved, rejected, later('30 minutes'))
      .when(show)
      .inOrder()
      .then({ published: [reminder, expiry], answered: { status: 200, body: { status: 'Paid' } } }))

  it('never cancels a paid order when its time ends, in whatever order the events arrive', () =>
    scenario(service)
      .given(created, later('30 minutes'), approved)
      .when(show)
      .then({
        answered: { body: { status: 'Paid' } },
        check: (documents) => expect(factsIn(documents)).not.to.have.property('OrderCancelled'),
      }))

  it('leaves an order rejected, without an expiry, if its payment was rejected in time', () =>
    scenario(service)
      .given(created, rejected, later('30 minutes'))
      .when(show)
      .then({ published: [], answered: { body: { status: 'PaymentRejected' } } }))

  it('cancels an expired order if its payment is rejected at the same time, in whatever order the events arrive', () =>
    scenario(service)
      .given(created, later('30 minutes'))
      .when(rejected)
      .then({
        check(documents) {
          const { OrderExpired, OrderCancelled } = factsIn(documents)
          expect(Boolean(OrderCancelled)).to.equal(Boolean(OrderExpired))
        },
      }))

  it('keeps a cancellation that follows the expiry as the only one', () =>
    scenario(service)
      .given(created, later('30 minutes'))
      .when(cancelled, rejected)
      .inOrder()
      .then({ published: [reminder, expiry] }))

  it('publishes the cancellation of an unpaid order once', () => {
    const cancel = request('POST', `/v1/orders/${OrderId}/cancel`)
    return scenario(service)
      .given(created, cancel)
      .when(cancel)
      .then({ answered: { status: 200 }, published: [{ Name: 'OrderCancelled', Payload: { OrderId } }] })
  })
})
