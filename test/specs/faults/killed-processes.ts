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
import type { Order } from '@orderflow/order-service/order'
import type { RunningStack } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { expect } from 'chai'
import { listedOrders } from '../../support/web/listed.ts'

export function killedProcesses(running: () => RunningStack): void {
  describe('the system when a process is killed', () => {
    let stack: RunningStack
    let orders: string
    before(() => {
      stack = running()
      orders = `${orderUrl(stack)}/v1/orders`
    })

    async function arePaidOnce(...ids: string[]): Promise<void> {
      for (const id of ids) await orderWith(orderUrl(stack), id, 'Paid')
      const payments = await Promise.all(ids.map((id) => paymentsOf(paymentUrl(stack), id)))
      expect(payments.map(({ length }) => length)).to.deep.equal(ids.map(() => 1))
      const listed = (await listedOrders(stack)).filter((id) => ids.includes(id))
      expect(listed).to.have.members(ids)
    }

    const place = (key: string) => post<Order>(orders, anOrder, { 'idempotency-key': key }).catch(() => undefined)
    const placeAll = (keys: string[]) => Promise.all(keys.map(place))
    const idsOf = (answers: Awaited<ReturnType<typeof place>>[]) => answers.map((answer) => answer?.body.id ?? '')
    const newKey = () => `key-${crypto.randomUUID()}`
    const newKeys = (count: number) => Array.from({ length: count }, newKey)
    const readyz = () => send(`${orderUrl(stack)}/readyz`)
    /** Waits until order-service is ready. A service reconnects to a restarted sidecar within half a second. */
    const isReady = () =>
      eventually(async () => (await readyz()).status === 200 || undefined, 'the service to be ready')

    it('a repeated request results in one order and one payment if order-service was killed during the first attempt', async () => {
      const clients = 20
      const answers = new Map<string, Awaited<ReturnType<typeof place>>>()
      /** Places orders one after the other until an order gets no answer. So each client has a request under way when the service is killed. */
      async function placeUntilDead(): Promise<void> {
        const key = newKey()
        const answer = await place(key)
        answers.set(key, answer)
        if (answer) await placeUntilDead()
      }
      const placing = Promise.all(Array.from({ length: clients }, placeUntilDead))
      await eventually(() => answers.size >= clients, 'the service to be taking in orders')
      await stack.kill('order-service')
      await placing
      expect([...answers.values()].filter((answer) => answer === undefined)).to.have.length(clients)
      await stack.restart('order-service')
      const keys = [...answers.keys()]
      const placed = await placeAll(keys)
      for (const [index, retried] of placed.entries()) {
        const first = answers.get(keys[index] ?? '')
        expect(retried?.status).to.equal(201)
        if (first) expect([first.status, first.body.id]).to.deep.equal([201, retried?.body.id])
      }
      await arePaidOnce(...idsOf(placed))
    })

    it('rejects an order while the sidecar of order-service is dead, and accepts a later retry', async () => {
      await stack.kill('order-sidecar')
      const [key = ''] = newKeys(1)
      const refused = await post<ProblemBody>(orders, anOrder, { 'idempotency-key': key })
      expect(refused.status).to.equal(503)
      expect((await readyz()).status).to.equal(503)
      await stack.restart('order-sidecar')
      await isReady()
      const [placed] = await placeAll([key])
      expect(placed?.status).to.equal(201)
      await arePaidOnce(placed?.body.id ?? '')
    })

    it('handles orders again as soon as a suspended sidecar continues', async () => {
      await stack.kill('order-sidecar', 'SIGSTOP')
      const keys = newKeys(20)
      const refused = await placeAll(keys)
      expect(new Set(refused.map((answer) => answer?.status))).to.deep.equal(new Set([503]))
      await stack.kill('order-sidecar', 'SIGCONT')
      await isReady()
      const placed = await placeAll(keys)
      expect(new Set(placed.map((answer) => answer?.status))).to.deep.equal(new Set([201]))
      await arePaidOnce(...idsOf(placed))
    })

    it('answers that the result is unknown while Kafka is dead, and returns the same order for a later retry', async () => {
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
      await arePaidOnce(placed.id)
    })
  })
}

export function killedStore(running: () => RunningStack): void {
  describe('the system when PostgreSQL is killed', () => {
    it('rejects orders until PostgreSQL runs again, then accepts their retries and pays all accepted orders', async () => {
      const stack = running()
      const orders = `${orderUrl(stack)}/v1/orders`
      const keys = Array.from({ length: 20 }, () => crypto.randomUUID())
      const place = (key: string) => post<Order>(orders, anOrder, { 'idempotency-key': key })
      const accepted = await Promise.all(keys.map(place))
      await stack.kill('postgresql')
      // PostgreSQL’s backend processes still answer for a few tenths of a second after its main process has ended.
      const readyz = `${orderUrl(stack)}/readyz`
      await eventually(async () => (await send(readyz)).status === 503 || undefined, 'the store to be missed')
      await eventually(async () => (await place(crypto.randomUUID())).status === 503 || undefined, 'a refused order')
      await stack.restart('postgresql')
      const again = await Promise.all(
        keys.map((key) =>
          eventually(async () => {
            const answer = await place(key)
            return answer.status === 201 ? answer : undefined
          }, 'the order to be accepted'),
        ),
      )
      expect(again.map(({ body }) => body.id)).to.deep.equal(accepted.map(({ body }) => body.id))
      for (const { body } of again) {
        await orderWith(orderUrl(stack), body.id, 'Paid')
        expect(await paymentsOf(paymentUrl(stack), body.id)).to.have.length(1)
      }
    })
  })
}
