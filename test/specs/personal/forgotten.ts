import { anOrder, orderUrl, orderWith, paymentsOf, paymentUrl, post, send } from '@orderflow/chaos/clients/api'
import { full } from '@orderflow/chaos/clients/envelopes'
import { type LogReader, openLog, withAdmin } from '@orderflow/kafka-log'
import type { Order } from '@orderflow/order-service/order'
import { readDeadLetters } from '@orderflow/service-kit/operations'
import type { RunningStack } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { createProducer, type Operator, settled } from '@orderflow/test-kit'
import { expect } from 'chai'
import { Markers } from '../../support/personal/markers.ts'

/** Tests how a customer is forgotten (docs/personal-data.md). */
export function forgottenCustomers(running: () => RunningStack, operator: () => Operator): void {
  describe('a customer whose records have expired', () => {
    const markers = new Markers()
    const person = (place: string) => ({ CustomerName: markers.new(place), CustomerTaxId: markers.new(place) })
    let stack: RunningStack
    let log: LogReader
    let orders: string
    let placed: Order
    const key = crypto.randomUUID()
    before(async () => {
      stack = running()
      log = openLog(stack.kafka)
      orders = `${orderUrl(stack)}/v1/orders`
      placed = await order()
      await publish(full(person('an event')), full({ ...person('a dead letter'), Total: 'much' }))
      await settled(stack, async () => {})
      expect(await told()).not.to.deep.equal([])
      await expire()
      await operator().loseStores('order')
      await operator().rebuild('order')
    })
    after(() => log?.close())

    async function order(): Promise<Order> {
      const { CustomerName, CustomerTaxId } = person('an order')
      const body = { customerName: CustomerName, customerTaxId: CustomerTaxId, total: 1 }
      const { id } = (await post<Order>(orders, body, { 'idempotency-key': key })).body
      return orderWith(orderUrl(stack), id, 'Paid')
    }

    async function publish(...events: object[]): Promise<void> {
      const producer = createProducer(stack.kafka)
      await producer.send(...events.map((event) => ({ topic: 'orderevents', value: JSON.stringify(event) })))
      await producer.close()
    }

    const topics = async () => (await log.topics()).filter((name) => !name.startsWith('__'))

    /** Deletes all records, as a broker does after a topic’s retention time. */
    async function expire(): Promise<void> {
      for (const name of await topics()) {
        const partitions = (await log.spans(name)).map(({ partition, end }) => ({ partition, offset: end }))
        await withAdmin(stack.kafka, (admin) => admin.deleteRecords({ topics: [{ name, partitions }] }))
      }
      await eventually(async () => (await records()).length === 0, 'the log to be empty')
    }

    async function records(): Promise<string[]> {
      const found: string[] = []
      for (const name of await topics()) {
        for await (const chunk of log.read(name, await log.spans(name)))
          found.push(...chunk.map(({ value }) => String(value)))
      }
      return found
    }

    /** Returns the customer’s marked values that topics or stores still contain. */
    async function told(): Promise<string[]> {
      const stored = await Promise.all(['order', 'payment'].map((role) => operator().documents(role)))
      return markers.in([...(await records()), JSON.stringify(stored)].join('\n'))
    }

    it('disappears from all topics and stores', async () => {
      expect((await readDeadLetters(log)).entries).to.deep.equal([])
      expect(await told()).to.deep.equal([])
      expect((await send(`${orders}/${placed.id}`)).status).to.equal(404)
    })

    it('leaves only a payment without personal data', async () => {
      const [payment, ...others] = await paymentsOf(paymentUrl(stack), placed.id)
      expect([payment?.id, others]).to.deep.equal([placed.payment?.id, []])
    })

    it('pays only once, even if their order arrives again', async () => {
      const again = await order()
      expect([again.id, again.payment]).to.deep.equal([placed.id, placed.payment])
    })

    it('does not affect orders of other customers', async () => {
      const { body } = await post<Order>(orders, anOrder)
      await orderWith(orderUrl(stack), body.id, 'Paid')
    })
  })
}
