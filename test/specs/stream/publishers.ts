import { randomUUID } from 'node:crypto'
import { anOrder, orderUrl, orderWith, paymentsOf, paymentUrl, post, send } from '@orderflow/chaos/clients/api'
import { full, reduced } from '@orderflow/chaos/clients/envelopes'
import { paymentEvents } from '@orderflow/envelope-schema'
import type { Order } from '@orderflow/order-service/order'
import { type RunningStack, services } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { createProducer, openLog, settled } from '@orderflow/test-kit'
import { expect } from 'chai'
import { hostileTexts } from './hostile-texts.ts'

export function outsidePublishers(running: () => RunningStack): void {
  describe('an outside publisher', () => {
    let stack: RunningStack
    let producer: ReturnType<typeof createProducer>
    let dead: Awaited<ReturnType<typeof openLog>>
    before(async () => {
      stack = running()
      producer = createProducer(stack.kafka)
      dead = await openLog(stack.kafka, ['orderevents.dead', 'paymentevents.dead'])
    })
    after(() => Promise.all([producer.close(), dead.close()]))

    const publish = (envelope: object, key?: string) =>
      producer.send({ topic: 'orderevents', value: JSON.stringify(envelope), ...(key !== undefined && { key }) })

    for (const [variant, make] of Object.entries({ full, reduced })) {
      for (const keyed of [true, false]) {
        it(`gets an order and a payment for a ${variant} envelope ${keyed ? 'with' : 'without'} a key`, async () => {
          const envelope = make()
          await publish(envelope, keyed ? envelope.Payload.OrderId : undefined)
          const order = await orderWith(orderUrl(stack), envelope.Payload.OrderId, 'Paid')
          expect(order).to.include({ customerName: 'Grace Hopper', total: 10, createdAt: '2026-11-21T09:30:00+01:00' })
          if ('CorrelationId' in envelope) expect(order.correlationId).to.equal(envelope.CorrelationId)
          const [payment] = await paymentsOf(paymentUrl(stack), order.id)
          // Both services derive the missing ids of a reduced envelope from the record’s value and key.
          expect(payment).to.include({ correlationId: order.correlationId, traceId: order.traceId, amount: 10 })
        })
      }
    }

    it('causes one order and one payment when it repeats an event with the same key, another key or no key', async () => {
      const envelope = full()
      const orderId = envelope.Payload.OrderId
      await publish(envelope, orderId)
      await orderWith(orderUrl(stack), orderId, 'Paid')
      for (const key of [orderId, undefined, 'another key']) await publish(envelope, key)
      // With eight different keys, at least one of the orders follows the copies in each partition.
      const behind = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((key) => ({ key, marker: full() }))
      for (const { key, marker } of behind) await publish(marker, key)
      for (const { marker } of behind) await orderWith(orderUrl(stack), marker.Payload.OrderId, 'Paid')
      expect(await paymentsOf(paymentUrl(stack), orderId)).to.have.length(1)
      const { body } = await send<{ items: Order[] }>(`${orderUrl(stack)}/v1/orders?limit=100`)
      expect(body.items.filter(({ id }) => id === orderId)).to.have.length(1)
      const payments = await send<{ items: { orderId: string }[] }>(`${paymentUrl(stack)}/v1/payments?limit=100`)
      expect(payments.body.items.filter((payment) => payment.orderId === orderId)).to.have.length(1)
    })

    it('gets an order and a payment for an event with GUIDs in upper case and unknown fields', async () => {
      const envelope = reduced({ Note: { nested: ['x'] } }, { Extra: 1 })
      const orderId = envelope.Payload.OrderId
      await publish({ ...envelope, Payload: { ...envelope.Payload, OrderId: orderId.toUpperCase() } })
      await orderWith(orderUrl(stack), orderId, 'Paid')
    })

    for (const [what, text] of Object.entries(hostileTexts)) {
      it(`gets ${what} stored unchanged`, async () => {
        const envelope = full({ CustomerName: text, CustomerTaxId: text })
        await publish(envelope)
        const order = await orderWith(orderUrl(stack), envelope.Payload.OrderId, 'Paid')
        expect([order.customerName, order.customerTaxId]).to.deep.equal([text, text])
        const posted = await post<Order>(`${orderUrl(stack)}/v1/orders`, {
          ...anOrder,
          customerName: text,
          customerTaxId: text,
        })
        const read = await orderWith(orderUrl(stack), posted.body.id, 'Paid')
        expect([read.customerName, read.customerTaxId]).to.deep.equal([text, text])
      })
    }

    it('causes dead letters only of the consumers of paymentevents if it publishes an invalid record to this topic', async () => {
      const key = `poison ${randomUUID()}`
      const listeners = services.filter(({ consumes }) => paymentEvents in consumes).map(({ name }) => name)
      await producer.send({ topic: paymentEvents, key, value: '{' })
      const found = () => dead.records.filter((record) => record.key === key)
      await eventually(() => found().length >= listeners.length, 'the dead letters')
      // All other services have also handled the record by now.
      await settled(stack, () => dead.caughtUp())
      expect(found().map(({ headers }) => headers['deadletter-app'])).to.have.members(listeners)
    })

    it('causes dead letters if its event contradicts a known order', async () => {
      const envelope = full()
      const orderId = envelope.Payload.OrderId
      await publish(envelope, orderId)
      await orderWith(orderUrl(stack), orderId, 'Paid')
      const contradiction = { ...full(), Payload: { ...envelope.Payload, Total: 11 } }
      await publish(contradiction, orderId)
      const deadLetters = await eventually(() => {
        const found = dead.records.filter((record) => record.key === orderId)
        return found.length >= 2 ? found : undefined
      }, 'a dead letter of each app')
      expect(deadLetters.map((deadLetter) => deadLetter.headers['deadletter-reason'])).to.deep.equal([
        'conflicting-order',
        'conflicting-order',
      ])
      expect((await orderWith(orderUrl(stack), orderId, 'Paid')).total).to.equal(10)
    })

    it('causes no dead letter if its event has an unknown name', async () => {
      const unknown = reduced({}, { Name: 'OrderShipped' })
      const healthy = full()
      await publish(unknown, 'same key')
      await publish(healthy, 'same key')
      // This order follows the unknown event. When it is paid, both services have read the unknown event.
      await orderWith(orderUrl(stack), healthy.Payload.OrderId, 'Paid')
      await dead.caughtUp()
      expect(dead.records.filter((record) => record.value.includes('OrderShipped'))).to.deep.equal([])
    })

    it('prevents a charge if it publishes the cancellation before the order', async () => {
      const envelope = full()
      const orderId = envelope.Payload.OrderId
      await publish({ ...full(), Name: 'OrderCancelled', Payload: { OrderId: orderId } }, orderId)
      await publish(envelope, orderId)
      await eventually(
        async () => ((await paymentsOf(paymentUrl(stack), orderId)).length ? true : undefined),
        'the decision',
      )
      const [payment] = await paymentsOf(paymentUrl(stack), orderId)
      expect(payment).to.include({ status: 'Rejected', policy: 'cancelled-before-payment@1' })
      expect((await orderWith(orderUrl(stack), orderId, 'Cancelled')).total).to.equal(10)
    })

    it('gets a payment for a compressed order, and the size limit applies to the uncompressed event', async () => {
      const small = full()
      await producer.sendCompressed({ topic: 'orderevents', value: JSON.stringify(small) })
      await orderWith(orderUrl(stack), small.Payload.OrderId, 'Paid')
      const large = JSON.stringify(full({ Note: 'x'.repeat(300_000) }))
      const error = await producer
        .sendCompressed({ topic: 'orderevents', value: large })
        .catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(Error)
    })
  })
}
