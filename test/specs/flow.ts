import {
  anOrder,
  orderUrl,
  orderWith,
  type ProblemBody,
  paymentsOf,
  paymentUrl,
  post,
  send,
} from '@orderflow/chaos/clients/api'
import { parseFullEnvelope } from '@orderflow/envelope-schema'
import type { Order } from '@orderflow/order-service/order'
import type { Payment } from '@orderflow/payment-service/payment'
import type { RunningStack } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { openLog } from '@orderflow/test-kit'
import { expect } from 'chai'

export function theOrderFlow(running: () => RunningStack): void {
  describe('the order flow', () => {
    let stack: RunningStack
    let log: Awaited<ReturnType<typeof openLog>>
    let orders: string
    before(async () => {
      stack = running()
      orders = `${orderUrl(stack)}/v1/orders`
      log = await openLog(stack.kafka, ['orderevents', 'paymentevents'])
    })
    after(() => log.close())

    const eventsOf = (orderId: string) =>
      log.records
        .map((record) => ({ record, envelope: JSON.parse(record.value.toString()) }))
        .filter(({ envelope }) => envelope.Payload?.OrderId === orderId)
    const eventNamed = (orderId: string, name: string) =>
      eventually(() => eventsOf(orderId).find(({ envelope }) => envelope.Name === name), `${name} of ${orderId}`)

    it('turns an order into a payment, and the order becomes paid', async () => {
      const created = await post<Order>(orders, anOrder)
      expect(created.status).to.equal(201)
      expect(created.body).to.include({ ...anOrder, status: 'Created' })
      expect(created.headers.get('location')).to.equal(`/v1/orders/${created.body.id}`)

      const paid = await orderWith(orderUrl(stack), created.body.id, 'Paid')
      const [payment] = await paymentsOf(paymentUrl(stack), paid.id)
      expect(payment).to.include({ orderId: paid.id, amount: 42.5, status: 'Approved', source: 'OrderCreated' })
      expect(payment?.policy).to.equal('amount-limit@1')
      expect(paid.payment).to.deep.equal({ id: payment?.id, amount: 42.5, policy: 'amount-limit@1' })
      const byId = await send<Payment>(`${paymentUrl(stack)}/v1/payments/${payment?.id}`)
      expect(byId.body).to.deep.equal(payment)
    })

    it('writes full envelopes to Kafka, with the OrderId as key and a common CorrelationId and TraceId', async () => {
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
      const { body } = await post<Order>(orders, anOrder, { traceparent })
      const created = await eventNamed(body.id, 'OrderCreated')
      const approved = await eventNamed(body.id, 'PaymentApproved')
      for (const { record } of [created, approved]) {
        expect(record.key).to.equal(body.id)
        expect(record.headers.traceparent).to.match(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/)
        const envelope = parseFullEnvelope(record.value)
        expect(envelope.CorrelationId).to.equal(body.correlationId)
        expect(envelope.TraceId).to.equal('0af76519-16cd-43dd-8448-eb211c80319c')
      }
      expect(approved.envelope.Headers.CausationId).to.equal(created.envelope.Id)
      expect(approved.envelope.AppName).to.equal('payment-service')
    })

    it('rejects a payment above the limit and states the reason', async () => {
      const { body } = await post<Order>(orders, { ...anOrder, total: 10_000.01 })
      const order = await orderWith(orderUrl(stack), body.id, 'PaymentRejected')
      expect(order.payment?.reason).to.equal('the amount is above the limit of 10000')
      const cancel = await post<ProblemBody>(`${orders}/${body.id}/cancel`, undefined)
      expect(cancel.status).to.equal(409)
      expect(cancel.body.type).to.equal('urn:orderflow:problem:not-cancellable')
    })

    it('refunds a cancelled paid order once', async () => {
      const { body } = await post<Order>(orders, anOrder)
      await orderWith(orderUrl(stack), body.id, 'Paid')
      const cancelled = await post<Order>(`${orders}/${body.id}/cancel`, undefined)
      expect([cancelled.status, cancelled.body.status]).to.deep.equal([200, 'Cancelled'])
      await orderWith(orderUrl(stack), body.id, 'Refunded')
      const again = await post<Order>(`${orders}/${body.id}/cancel`, undefined)
      expect([again.status, again.body.status]).to.deep.equal([200, 'Refunded'])
      const payments = await paymentsOf(paymentUrl(stack), body.id)
      expect(payments.map((payment) => payment.status)).to.deep.equal(['Refunded'])
      await log.caughtUp()
      expect(eventsOf(body.id).filter(({ envelope }) => envelope.Name === 'OrderCancelled')).to.have.length(1)
    })

    it('creates one order for requests with the same Idempotency-Key, even if they are simultaneous', async () => {
      const headers = { 'idempotency-key': `key-${crypto.randomUUID()}` }
      const answers = await Promise.all(Array.from({ length: 8 }, () => post<Order>(orders, anOrder, headers)))
      expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).to.equal(1)
      const id = answers[0]?.body.id ?? ''
      const paid = await orderWith(orderUrl(stack), id, 'Paid')
      const late = await post<Order>(orders, anOrder, headers)
      expect([late.status, late.body]).to.deep.equal([201, paid])
      await log.caughtUp()
      const published = eventsOf(id).filter(({ envelope }) => envelope.Name === 'OrderCreated')
      expect(new Set(published.map(({ record }) => record.value.toString())).size).to.equal(1)
      expect(await paymentsOf(paymentUrl(stack), id)).to.have.length(1)
    })

    it('rejects an Idempotency-Key that was used for another order', async () => {
      const headers = { 'idempotency-key': `key-${crypto.randomUUID()}` }
      const first = await post<Order>(orders, anOrder, headers)
      const other = await post<ProblemBody>(orders, { ...anOrder, total: 43 }, headers)
      expect(other.status).to.equal(422)
      expect(other.body.orderId).to.equal(first.body.id)
    })

    it('accepts one manual payment for an unknown order, and rejects a second payment', async () => {
      const orderId = crypto.randomUUID()
      const made = await post<Payment>(`${paymentUrl(stack)}/v1/payments`, {
        orderId: orderId.toUpperCase(),
        amount: 7,
      })
      expect(made.status).to.equal(201)
      expect(made.body).to.include({ orderId, amount: 7, status: 'Approved', source: 'Manual' })
      expect(made.headers.get('location')).to.equal(`/v1/payments/${made.body.id}`)
      await eventNamed(orderId, 'PaymentApproved')
      const second = await post<ProblemBody>(`${paymentUrl(stack)}/v1/payments`, { orderId, amount: 7 })
      expect(second.status).to.equal(409)
      expect(second.body.paymentId).to.equal(made.body.id)
    })

    it('lists orders and payments in pages, newest first', async () => {
      const ids: string[] = []
      for (let count = 0; count < 5; count += 1) ids.unshift((await post<Order>(orders, anOrder)).body.id)
      const first = await send<{ items: Order[]; next: string }>(`${orders}?limit=3`)
      const second = await send<{ items: Order[]; next: string }>(`${orders}?limit=2&cursor=${first.body.next}`)
      expect([...first.body.items, ...second.body.items].map(({ id }) => id)).to.deep.equal(ids)
      // Five orders are in several partitions, so the newest order may be paid before an older order.
      await Promise.all(ids.map((id) => orderWith(orderUrl(stack), id, 'Paid')))
      const payments = await send<{ items: Payment[] }>(`${paymentUrl(stack)}/v1/payments?limit=100`)
      expect(payments.body.items.map(({ orderId }) => orderId)).to.include.members(ids)
    })
  })
}
