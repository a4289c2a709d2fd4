import { setTimeout as delay } from 'node:timers/promises'
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
import type { Order } from '@orderflow/order-service/domain'
import { eventually, type RunningStack, services, sidecarOf } from '@orderflow/stack'
import { expect } from 'chai'

/** What any order comes to when a process dies or hangs in between. */
export function killedProcesses(running: () => RunningStack): void {
  describe('when a process is killed', function () {
    this.timeout(180_000)
    let stack: RunningStack
    let orders: string
    before(() => {
      stack = running()
      orders = `${orderUrl(stack)}/v1/orders`
    })

    /** What must come of any order, whatever was killed in between. */
    async function isPaidOnce(id: string): Promise<void> {
      await orderWith(orderUrl(stack), id, 'Paid')
      expect(await paymentsOf(paymentUrl(stack), id)).to.have.length(1)
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

    /** Orders sent at once; a connection that breaks counts as no answer. */
    const placeAll = (keys: string[]) =>
      Promise.all(keys.map((key) => post<Order>(orders, anOrder, { 'idempotency-key': key }).catch(() => undefined)))
    const newKeys = (count: number) => Array.from({ length: count }, () => `key-${crypto.randomUUID()}`)

    it('every order that order-service was taking in when it died is one order and one payment after a retry', async () => {
      const keys = newKeys(60)
      const placing = placeAll(keys)
      await delay(15)
      await stack.kill('order-service')
      const answers = await placing
      expect(answers.some((answer) => answer === undefined)).to.equal(true)
      await stack.restart('order-service')
      const retried = await placeAll(keys)
      for (const [index, answer] of retried.entries()) {
        expect(answer?.status).to.equal(201)
        if (answers[index]?.status === 201) expect(answer?.body.id).to.equal(answers[index]?.body.id)
        await isPaidOnce(answer?.body.id ?? '')
      }
    })

    it('an order is refused with a retry that is safe while its sidecar is dead', async () => {
      await stack.kill('order-sidecar')
      const [key = ''] = newKeys(1)
      const refused = await post<ProblemBody>(orders, anOrder, { 'idempotency-key': key })
      expect(refused.status).to.equal(503)
      expect((await send(`${orderUrl(stack)}/readyz`)).status).to.equal(503)
      await stack.restart('order-sidecar')
      const [placed] = await placeAll([key])
      expect(placed?.status).to.equal(201)
      await isPaidOnce(placed?.body.id ?? '')
    })

    it('a service goes on as soon as a sidecar that hung does', async () => {
      await stack.kill('order-sidecar', 'SIGSTOP')
      const keys = newKeys(20)
      const refused = await placeAll(keys)
      expect(new Set(refused.map((answer) => answer?.status))).to.deep.equal(new Set([503]))
      await stack.kill('order-sidecar', 'SIGCONT')
      await eventually(
        async () => (await send(`${orderUrl(stack)}/readyz`)).status === 200 || undefined,
        'the service to be ready',
      )
      for (const placed of await placeAll(keys)) {
        expect(placed?.status).to.equal(201)
        await isPaidOnce(placed?.body.id ?? '')
      }
    })

    it('while Kafka is dead nobody claims to know, and afterwards the retry is the same order', async () => {
      await stack.kill('kafka')
      const [key = ''] = newKeys(1)
      const unknown = await post<ProblemBody>(orders, anOrder, { 'idempotency-key': key })
      expect(unknown.status).to.equal(503)
      expect(unknown.body.detail).to.contain('It is not known whether')
      await stack.restart('kafka')
      const placed = await eventually(async () => {
        const [answer] = await placeAll([key])
        return answer?.status === 201 ? answer.body : undefined
      }, 'the order to be accepted')
      expect(placed.id).to.equal(unknown.body.orderId)
      await isPaidOnce(placed.id)
    })

    it('orders survive a stop and start of everything', async () => {
      const { body } = await post<Order>(orders, anOrder)
      const paid = await orderWith(orderUrl(stack), body.id, 'Paid')
      const others = services.flatMap((service) => [sidecarOf(service), service.name])
      for (const name of [...others, 'kafka']) await stack.kill(name, 'SIGTERM')
      await stack.restart('kafka')
      await Promise.all(others.map((name) => stack.restart(name)))
      expect((await send(`${orders}/${body.id}`)).body).to.deep.equal(paid)
      const next = await post<Order>(orders, anOrder)
      await isPaidOnce(next.body.id)
    })
  })
}
