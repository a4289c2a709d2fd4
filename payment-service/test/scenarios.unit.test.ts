import { event, later, memorySpecs, request, scenario } from '@orderflow/test-kit/scenario'
import { expect } from 'chai'
import { paymentIdOf } from '../src/payment.ts'
import { service } from '../src/service.ts'
import { subject } from './subject.ts'

const OrderId = '7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e11'
const key = `payment/${paymentIdOf(OrderId)}`
const created = event('OrderCreated', { OrderId, Total: 42.5 })
const cancelled = event('OrderCancelled', { OrderId })
const expired = event('OrderExpired', { OrderId, Total: 42.5 })
const stateIn = (documents: Record<string, unknown>) => (documents[key] as { state: Record<string, unknown> }).state

describe('payment-service in memory', () => {
  memorySpecs(service, subject, {
    refunded: [created, cancelled],
    'rejected, because the order was cancelled before': [cancelled, created],
    'rejected, because the order expired': [expired],
  })

  it('approves an order up to the limit', () =>
    scenario(service, { Policy__ApproveUpTo: '42.5' })
      .when(created)
      .then({ published: [{ Name: 'PaymentApproved', Payload: { OrderId, Amount: 42.5, Source: 'OrderCreated' } }] }))

  it('rejects an order above the limit', () =>
    scenario(service, { Policy__ApproveUpTo: '42' })
      .when(created)
      .then({ published: [{ Name: 'PaymentRejected', Payload: { OrderId, Amount: 42.5 } }] }))

  it('refunds the payment of an order that is cancelled later', () =>
    scenario(service)
      .given(created)
      .when(cancelled)
      .inOrder()
      .then({
        published: [{ Name: 'PaymentApproved' }, { Name: 'PaymentRefunded', Payload: { OrderId, Amount: 42.5 } }],
      }))

  it('never keeps the payment of a cancelled order, in whatever order its events arrive', () =>
    scenario(service)
      .when(created, cancelled)
      .then({
        check(documents) {
          const { PaymentApproved, PaymentRefunded } = stateIn(documents)
          expect(Boolean(PaymentApproved)).to.equal(Boolean(PaymentRefunded))
        },
      }))

  it('keeps the payment of an order that expires after the payment, and announces the payment again', () =>
    scenario(service)
      .given(created, later('30 minutes'))
      .when(expired)
      .then({
        published: [{ Name: 'PaymentApproved' }],
        check: (documents) => expect(stateIn(documents)).to.have.all.keys('PaymentApproved', 'OrderExpired'),
      }))

  it('rejects the payment of an order that expires before the payment', () =>
    scenario(service)
      .given(expired, later('1 second'))
      .when(created, cancelled)
      .then({ published: [{ Name: 'PaymentRejected', Payload: { OrderId, Amount: 42.5, Policy: 'expired@1' } }] }))

  it('decides once about an order that expires, in whatever order its events arrive', () =>
    scenario(service)
      .when(created, expired)
      .then({
        check(documents) {
          const { PaymentApproved, PaymentRejected } = stateIn(documents)
          expect(Boolean(PaymentApproved)).to.equal(!PaymentRejected)
        },
      }))

  it('makes one payment if a request and the order arrive in any order', () =>
    scenario(service)
      .given(created)
      .when(request('POST', '/v1/payments', { orderId: OrderId, amount: 42.5 }))
      .then({
        answered: { status: 409 },
        published: [{ Name: 'PaymentApproved', Payload: { Source: 'OrderCreated' } }],
      }))

  it('rejects an order with another total, and keeps the first payment', () =>
    scenario(service)
      .given(created)
      .when(event('OrderCreated', { OrderId, Total: 50 }))
      .inOrder()
      .then({
        rejected: ['conflicting-order'],
        stored: { [key]: { state: { PaymentApproved: { Payload: { Amount: 42.5 } } } } },
      }))
})
