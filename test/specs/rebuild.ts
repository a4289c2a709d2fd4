import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openLog } from '@orderflow/service-kit/operations'
import type { ProcessName, RunningStack, StackPorts } from '@orderflow/stack'
import { expect } from 'chai'
import type { Order } from '../../order-service/src/domain/order.ts'
import type { Payment } from '../../payment-service/src/domain/payment.ts'
import { anOrder, orderWith, paymentsOf, post, send } from '../support/api.ts'
import { eventually } from '../support/eventually.ts'
import { createProducer } from '../support/kafka.ts'
import { operate } from '../support/operate.ts'
import { domainDocumentsIn } from '../support/sqlite.ts'

const roles = ['order', 'payment'] as const
type Role = (typeof roles)[number]
type Documents = Record<Role, Record<string, unknown>>

/** The stores of a local stack, lost and rebuilt from the log that all specs before have filled. */
export function rebuiltStores(running: () => RunningStack & { folder: string }, ports: () => StackPorts): void {
  let stack: RunningStack & { folder: string }
  let live: Documents
  let halfTime: Date
  let early: Order
  let late: Order
  let list: string[]
  before(async function () {
    this.timeout(60_000)
    stack = running()
    await makeHistory()
    live = await settled()
    list = await listed()
    for (const role of roles) expect(Object.keys(live[role])).to.have.length.above(5)
  })

  const documents = (): Documents => ({ order: documentsOf('order'), payment: documentsOf('payment') })
  const database = (role: Role) => join(stack.folder, 'data', `${role}.db`)
  const documentsOf = (role: Role) => domainDocumentsIn(database(role))
  const orders = () => `${stack.orderUrl}/v1/orders`
  const listed = async () => {
    const { body } = await send<{ items: Order[] }>(`${orders()}?limit=100`)
    return body.items.map(({ id }) => id)
  }

  /** Every way in which orders and payments come about, and end. */
  async function makeHistory(): Promise<void> {
    early = (await post<Order>(orders(), anOrder)).body
    await orderWith(stack.orderUrl, early.id, 'Paid')
    const rejected = await post<Order>(orders(), { ...anOrder, total: 10_001 }, { 'idempotency-key': randomUUID() })
    await orderWith(stack.orderUrl, rejected.body.id, 'PaymentRejected')
    const refunded = await post<Order>(orders(), anOrder)
    await orderWith(stack.orderUrl, refunded.body.id, 'Paid')
    await post(`${orders()}/${refunded.body.id}/cancel`, undefined)
    await orderWith(stack.orderUrl, refunded.body.id, 'Refunded')
    await post(`${stack.paymentUrl}/v1/payments`, { orderId: randomUUID(), amount: 7 })
    await publishOutside()
    // Kafka's moments are milliseconds.
    await delay(5)
    halfTime = new Date()
    await delay(5)
    late = (await post<Order>(orders(), anOrder)).body
    await orderWith(stack.orderUrl, late.id, 'Paid')
  }

  async function publishOutside(): Promise<void> {
    const producer = createProducer(stack.kafka)
    const envelope = (Name: string, Payload: object, CreationDate = '2026-11-21T09:30:00+01:00') =>
      JSON.stringify({ AppId: randomUUID(), AppName: 'older-application', Version: 1, Name, CreationDate, Payload })
    const created = (changes: object = {}) => {
      return { OrderId: randomUUID(), CustomerName: 'Grace', CustomerTaxId: 'US-1', Total: 10, ...changes }
    }
    const [twice, cancelledFirst, rejected] = [created(), created(), created({ Total: 20_000 })]
    const cancelled = ({ OrderId }: { OrderId: string }) => envelope('OrderCancelled', { OrderId })
    await producer.send(
      { topic: 'orderevents', key: 'a', value: envelope('OrderCreated', twice) },
      { topic: 'orderevents', key: 'b', value: envelope('OrderCreated', twice, '2026-11-21T08:00:00Z') },
      { topic: 'orderevents', key: 'c', value: envelope('OrderCreated', { ...twice, Total: 11 }) },
      { topic: 'orderevents', key: 'd', value: cancelled(cancelledFirst) },
      { topic: 'orderevents', key: 'd', value: cancelled(cancelledFirst) },
      { topic: 'orderevents', key: 'd', value: envelope('OrderCreated', cancelledFirst) },
      { topic: 'orderevents', key: 'e', value: envelope('OrderCreated', rejected) },
      { topic: 'orderevents', key: 'e', value: cancelled(rejected) },
      { topic: 'orderevents', key: 'f', value: cancelled(created()) },
    )
    await producer.close()
    for (const { OrderId } of [cancelledFirst, rejected]) await orderWith(stack.orderUrl, OrderId, 'Cancelled')
    await eventually(async () => (await paymentsOf(stack.paymentUrl, twice.OrderId)).length === 1, 'the payment')
  }

  /** The documents, once nothing changes them any more. */
  async function settled(): Promise<Documents> {
    let last = ''
    let since = Date.now()
    return eventually(async () => {
      const found = documents()
      const now = JSON.stringify(found)
      if (now !== last) since = Date.now()
      last = now
      return Date.now() - since > 1_500 ? found : undefined
    }, 'the stores to come to rest')
  }

  /** Ends both services, loses the stores of some, and starts them again. */
  async function lose(...lost: Role[]): Promise<void> {
    const names: ProcessName[] = ['order-service', 'order-sidecar', 'payment-service', 'payment-sidecar']
    for (const name of names) await stack.kill(name, 'SIGTERM')
    for (const role of lost) for (const end of ['', '-wal', '-shm']) rmSync(database(role) + end, { force: true })
    await Promise.all(names.map((name) => stack.restart(name)))
  }

  async function replay(role: Role, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await operate(stack, role, ports()[role], ['replay', ...args])
    expect([code, stderr]).to.deep.equal([0, ''])
    return stdout
  }

  async function ends(): Promise<string> {
    const log = openLog(stack.kafka)
    const topics = await log.topics()
    const spans = await Promise.all(topics.filter((name) => !name.startsWith('__')).map((name) => log.spans(name)))
    await log.close()
    return spans.flatMap((some) => some.map(({ end }) => end)).join()
  }

  it('know nothing once they are lost', async function () {
    this.timeout(60_000)
    await lose(...roles)
    expect(await listed()).to.deep.equal([])
    expect(documents()).to.deep.equal({ order: {}, payment: {} })
  })

  it('know what arrived since a moment after a replay from there', async () => {
    await replay('order', '--from', halfTime.toISOString())
    expect(await listed()).to.deep.equal([late.id])
    await replay('order', '--topic', 'orderevents', '--to', halfTime.toISOString())
    expect((await send<Order>(`${orders()}/${early.id}`)).body.status).to.equal('Created')
  })

  it('hold the very documents of before after a replay of all, which publishes nothing', async function () {
    this.timeout(60_000)
    const before = await ends()
    for (const role of roles) await replay(role)
    expect(await ends()).to.equal(before)
    expect(documents()).to.deep.equal(live)
    expect((await listed()).toSorted()).to.deep.equal(list.toSorted())
    await orderWith(stack.orderUrl, early.id, 'Paid')
    const { body } = await send<{ items: Payment[] }>(`${stack.paymentUrl}/v1/payments?limit=100`)
    expect(body.items.map(({ orderId }) => orderId)).to.include.members([early.id, late.id])
  })

  it('are not changed by another replay, beside orders that come in meanwhile', async function () {
    this.timeout(60_000)
    const replays = Promise.all(roles.map((role) => replay(role)))
    const placed = await Promise.all(Array.from({ length: 40 }, () => post<Order>(orders(), anOrder)))
    const printed = await replays
    expect(printed.join()).to.match(/orderevents: \d+ read: 0 applied, [1-9]\d* known already/)
    for (const { body } of placed) await orderWith(stack.orderUrl, body.id, 'Paid')
    const { order, payment } = await settled()
    expect(order).to.deep.include(live.order)
    expect(payment).to.deep.include(live.payment)
    const ids = await listed()
    expect(new Set(ids).size).to.equal(ids.length)
    expect(ids).to.include.members(placed.map(({ body }) => body.id))
  })

  it('prevent the charge of an order whose cancellation they were told by the replay', async () => {
    const state = Object.values(live.payment).find((document) => !('decision' in (document as { state: object }).state))
    expect(state).to.deep.equal({ state: { cancelled: true } })
  })
}
