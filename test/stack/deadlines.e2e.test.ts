import { setTimeout as delay } from 'node:timers/promises'
import { anOrder, orderUrl, post, send } from '@orderflow/chaos/clients/api'
import type { FullEvent } from '@orderflow/envelope-schema'
import { extentsOf, withAdmin } from '@orderflow/kafka-log'
import type { Order } from '@orderflow/order-service/order'
import { freePorts, type LocalStack, startStack } from '@orderflow/stack'
import { eventually, testFolder } from '@orderflow/stack/base'
import { openLog } from '@orderflow/test-kit'
import { expect } from 'chai'

/** The time in which an order must be paid, in seconds. */
const payWithin = 12
const setting = 'Orders__PaymentWithin'

describe('order-service with orders that are not paid in time', () => {
  let stack: LocalStack
  let log: Awaited<ReturnType<typeof openLog>>
  before(async () => {
    process.env[setting] = String(payWithin / 60)
    stack = await startStack({ folder: testFolder('deadlines'), ports: await freePorts(), detached: false })
    log = await openLog(stack.kafka, ['orderevents', 'paymentevents', 'deadlines'])
  })
  after(async () => {
    delete process.env[setting]
    await log?.close()
    await stack?.stop()
  })

  const place = async () => (await post<Order>(`${orderUrl(stack)}/v1/orders`, anOrder)).body
  const read = async ({ id }: Order) => (await send<Order>(`${orderUrl(stack)}/v1/orders/${id}`)).body
  const eventsOf = ({ id }: Order) =>
    log.records
      .map(
        ({ value }) => JSON.parse(value.toString()) as FullEvent & { Payload: { OrderId?: string; EntityId?: string } },
      )
      .filter(({ Payload }) => Payload.OrderId === id || Payload.EntityId === id)
  /** Returns the names of an order's events, each Id once. A killed process may announce an event again. */
  const namesOf = (order: Order) => [...new Map(eventsOf(order).map(({ Id, Name }) => [Id, Name])).values()]
  const becomes = (order: Order, status: Order['status']) =>
    eventually(async () => (await read(order)).status === status || undefined, `the order is ${status}`)
  const expires = (order: Order) =>
    eventually(() => namesOf(order).includes('OrderExpired') || undefined, 'the order expires')
  const stopPayments = async () => {
    for (const name of ['payment-service', 'payment-sidecar']) await stack.kill(name)
  }
  // Each waits until the other is ready.
  const startPayments = () => Promise.all(['payment-service', 'payment-sidecar'].map(stack.restart))
  const deleteEvents = (topic: string) =>
    withAdmin(stack.kafka, async (admin) => {
      const extents = await extentsOf(admin, [topic])
      const partitions = extents.map(({ partition, end: offset }) => ({ partition, offset }))
      await admin.deleteRecords({ topics: [{ name: topic, partitions }] })
    })

  it('reminds and cancels them once, and keeps paid orders', async () => {
    const paid = await place()
    await becomes(paid, 'Paid')
    await stopPayments()
    const orders = await Promise.all(Array.from({ length: 20 }, place))
    const [first] = orders as [Order]
    expect(Date.parse(first.payableUntil ?? '') - Date.parse(first.createdAt)).to.equal(payWithin * 1_000)
    // payment-service pays only for orders whose events it finds.
    await log.caughtUp()
    await deleteEvents('orderevents')
    for (const order of orders) await expires(order)
    expect(await read(first)).to.include({ status: 'Created' })
    await startPayments()
    for (const order of orders) await becomes(order, 'Cancelled')
    await delay(1_000)
    await log.caughtUp()
    for (const order of orders)
      expect(namesOf(order).toSorted()).to.deep.equal([
        'DeadlinePassed',
        'DeadlinePassed',
        'OrderCancelled',
        'OrderCreated',
        'OrderExpired',
        'OrderReminded',
        'PaymentRejected',
      ])
    expect(await read(paid)).to.include({ status: 'Paid' })
    expect(namesOf(paid).toSorted()).to.deep.equal(['OrderCreated', 'PaymentApproved'])
  })

  it('expires them once although it is killed, and they are paid if payment-service handles their creation later', async () => {
    await stopPayments()
    const orders = await Promise.all(Array.from({ length: 20 }, place))
    await stack.kill('order-service')
    await stack.restart('order-service')
    for (const order of orders) await expires(order)
    await startPayments()
    for (const order of orders) await becomes(order, 'Paid')
    await delay(3_000)
    await log.caughtUp()
    for (const order of orders) {
      expect(await read(order)).to.include({ status: 'Paid' })
      expect(namesOf(order).toSorted()).to.deep.equal([
        'DeadlinePassed',
        'DeadlinePassed',
        'OrderCreated',
        'OrderExpired',
        'OrderReminded',
        'PaymentApproved',
      ])
    }
  })
})
