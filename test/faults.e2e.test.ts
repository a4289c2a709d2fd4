import type { ProcessName, RunningStack } from '@orderflow/stack'
import { expect } from 'chai'
import type { Order } from '../order-service/src/domain/order.ts'
import { anOrder, orderWith, type ProblemBody, paymentsOf, post, send } from './support/api.ts'
import { theStack } from './support/stack.ts'

describe('when a process is killed', function () {
  this.timeout(60_000)
  let stack: RunningStack
  let orders: string
  before(async () => {
    stack = await theStack()
    orders = `${stack.orderUrl}/v1/orders`
  })

  /** What must come of any order, whatever was killed in between. */
  async function isPaidOnce(id: string): Promise<void> {
    await orderWith(stack.orderUrl, id, 'Paid')
    expect(await paymentsOf(stack.paymentUrl, id)).to.have.length(1)
    const { body } = await send<{ items: Order[] }>(`${orders}?limit=100`)
    expect(body.items.filter((order) => order.id === id)).to.have.length(1)
  }

  for (const name of ['payment-service', 'payment-sidecar'] as const) {
    it(`an order placed while ${name} is dead is paid once it is back`, async () => {
      await stack.kill(name)
      const { status, body } = await post<Order>(orders, anOrder)
      expect(status).to.equal(201)
      await stack.restart(name)
      await isPaidOnce(body.id)
    })
  }

  it('an order is refused with a retry that is safe while its sidecar is dead, and is one order afterwards', async () => {
    const headers = { 'idempotency-key': `key-${crypto.randomUUID()}` }
    await stack.kill('order-sidecar')
    const refused = await post<ProblemBody>(orders, anOrder, headers)
    expect(refused.status).to.equal(503)
    expect((await send(`${stack.orderUrl}/readyz`)).status).to.equal(503)
    await stack.restart('order-sidecar')
    const placed = await post<Order>(orders, anOrder, headers)
    expect(placed.status).to.equal(201)
    await isPaidOnce(placed.body.id)
  })

  it('orders accepted just before order-service dies are all paid', async () => {
    const accepted = await Promise.all(Array.from({ length: 20 }, () => post<Order>(orders, anOrder)))
    await stack.kill('order-service')
    await stack.restart('order-service')
    for (const { status, body } of accepted) {
      expect(status).to.equal(201)
      await isPaidOnce(body.id)
    }
  })

  it('orders survive a stop and start of everything', async () => {
    const { body } = await post<Order>(orders, anOrder)
    const paid = await orderWith(stack.orderUrl, body.id, 'Paid')
    const others: ProcessName[] = ['payment-sidecar', 'payment-service', 'order-sidecar', 'order-service']
    for (const name of [...others, 'kafka'] as const) await stack.kill(name, 'SIGTERM')
    await stack.restart('kafka')
    await Promise.all(others.map((name) => stack.restart(name)))
    expect((await send(`${orders}/${body.id}`)).body).to.deep.equal(paid)
    const next = await post<Order>(orders, anOrder)
    await isPaidOnce(next.body.id)
  })
})
