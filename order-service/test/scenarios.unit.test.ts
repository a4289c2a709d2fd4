import { event, memorySpecs, request, scenario } from '@orderflow/test-kit/scenario'
import { service } from '../src/service.ts'
import { subject } from './subject.ts'

const OrderId = '7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e11'
const anOrder = { customerName: 'Ada Lovelace', customerTaxId: 'GB-123456789', total: 42.5 }
const created = event('OrderCreated', { OrderId, Total: 42.5 })
const approved = event('PaymentApproved', { OrderId, Amount: 42.5 })
const refunded = event('PaymentRefunded', { OrderId, Amount: 42.5 })
const cancelled = event('OrderCancelled', { OrderId })
const show = request('GET', `/v1/orders/${OrderId}`)

describe('order-service in memory', () => {
  memorySpecs(service, subject)

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

  it('publishes the cancellation of an unpaid order once', () => {
    const cancel = request('POST', `/v1/orders/${OrderId}/cancel`)
    return scenario(service)
      .given(created, cancel)
      .when(cancel)
      .then({ answered: { status: 200 }, published: [{ Name: 'OrderCancelled', Payload: { OrderId } }] })
  })
})
