import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { eventually } from './http.ts'
import { publish } from './kafka.ts'
import { eventsOf, findOrder, orderIsPaid, paymentEventIds, paymentsOf, readAll } from './orders.ts'
import './running-stack.ts'
import { fullEnvelope, partitions, readOrder, readPayment, reducedEnvelope, topics, urls } from './system.ts'

const times = 12

describe('an event that is published many times', () => {
  const variants: [string, (orderId: string) => object][] = [
    ['full', (id) => fullEnvelope(id, { id: randomUUID(), correlationId: randomUUID(), traceId: randomUUID() })],
    ['reduced', (id) => reducedEnvelope(id)],
  ]
  for (const [variant, envelope] of variants) {
    it(`results in one order and one payment if its copies are ${variant} envelopes in all partitions`, async () => {
      const orderId = randomUUID()
      const value = JSON.stringify(envelope(orderId))
      await publish(
        ...Array.from({ length: times }, (_, index) => ({
          value,
          partition: partitions[index % partitions.length] ?? 0,
        })),
      )
      // In each partition an order follows the copies. When this order is paid, the services have handled all copies.
      const behind = partitions.map((partition) => ({ partition, orderId: randomUUID() }))
      await publish(
        ...behind.map(({ partition, orderId }) => ({ partition, value: JSON.stringify(reducedEnvelope(orderId)) })),
      )
      for (const each of behind) await orderIsPaid(each.orderId)
      await orderIsPaid(orderId)
      await eventually('the monitor has all copies', async () => {
        const events = await eventsOf(orderId)
        return events.filter(({ position }) => position.topic === topics.orders).length === times || undefined
      })
      expect(await paymentsOf(orderId)).to.have.length(1)
      expect(await paymentEventIds(orderId)).to.have.length(1)
      expect((await findOrder(orderId))?.total).to.equal(10)
      const orders = (await readAll(urls.orders)).map(readOrder).filter(({ id }) => id === orderId)
      const payments = (await readAll(urls.payments)).map(readPayment).filter((each) => each.orderId === orderId)
      expect([orders.length, payments.length]).to.deep.equal([1, 1])
    })
  }
})
