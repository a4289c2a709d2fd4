import { randomUUID } from 'node:crypto'
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
import { reduced } from '@orderflow/chaos/clients/envelopes'
import { openLog } from '@orderflow/kafka-log'
import type { Order } from '@orderflow/order-service/order'
import { type RunningStack, storedServices, urlOf } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { createProducer, type Documents, type Operator, settled } from '@orderflow/test-kit'
import { expect } from 'chai'
import { listedOrders, listedPayments } from '../../support/web/listed.ts'

export const roles = ['order', 'payment'] as const
export type Role = (typeof roles)[number]

/** Deletes and rebuilds the stores, which contain the data of all earlier specs. */
export function rebuiltStores(running: () => RunningStack, operator: () => Operator): void {
  describe('a store that is lost and rebuilt', () => {
    let stack: RunningStack
    let live: Record<string, Documents>
    /** The state of the stores. Each test prepares the stores, so it can also run alone. */
    let stores: 'as they were' | 'lost' | 'rebuilt in part' | 'rebuilt' = 'as they were'
    let halfTime: Date
    let early: Order
    let late: Order
    const key = randomUUID()
    let list: string[]
    before(async () => {
      stack = running()
      await makeHistory()
      live = await settled(stack, documents)
      list = await listed()
      for (const role of roles) expect(Object.keys(live[role] ?? {})).to.have.length.above(5)
    })

    async function documents(): Promise<typeof live> {
      const stored = storedServices.map(async ({ role }) => [role, await operator().documents(role)] as const)
      return Object.fromEntries(await Promise.all(stored))
    }
    async function lose(): Promise<void> {
      if (stores !== 'lost') await operator().loseStores()
      stores = 'lost'
    }
    /** Rebuilds all stores. Deletes them first if no test has done this. Returns the output of each rebuild. */
    async function rebuild(): Promise<string[]> {
      if (stores === 'as they were') await lose()
      const printed = await Promise.all(storedServices.map(({ role }) => operator().rebuild(role)))
      stores = 'rebuilt'
      return printed
    }
    const rebuilt = async () => void (stores === 'rebuilt' || (await rebuild()))
    const orders = () => `${orderUrl(stack)}/v1/orders`

    const listed = () => listedOrders(stack)

    async function makeHistory(): Promise<void> {
      early = (await post<Order>(orders(), anOrder, { 'idempotency-key': key })).body
      await orderWith(orderUrl(stack), early.id, 'Paid')
      const rejected = await post<Order>(orders(), { ...anOrder, total: 10_001 }, { 'idempotency-key': randomUUID() })
      await orderWith(orderUrl(stack), rejected.body.id, 'PaymentRejected')
      const refunded = await post<Order>(orders(), anOrder)
      await orderWith(orderUrl(stack), refunded.body.id, 'Paid')
      await post(`${orders()}/${refunded.body.id}/cancel`, undefined)
      await orderWith(orderUrl(stack), refunded.body.id, 'Refunded')
      await post(`${paymentUrl(stack)}/v1/payments`, { orderId: randomUUID(), amount: 7 })
      await publishOutside()
      // The pauses separate the earlier and later records, because Kafka’s timestamps have a precision of one millisecond.
      await delay(5)
      halfTime = new Date()
      await delay(5)
      late = (await post<Order>(orders(), anOrder)).body
      await orderWith(orderUrl(stack), late.id, 'Paid')
    }

    async function publishOutside(): Promise<void> {
      const producer = createProducer(stack.kafka)
      const publish = (key: string, envelope: object) =>
        producer.send({ topic: 'orderevents', key, value: JSON.stringify(envelope) })
      const [twice, cancelledFirst, rejected, neverCame] = Array.from({ length: 4 }, () => randomUUID())
      const cancelled = (OrderId = '') => ({ ...reduced(), Name: 'OrderCancelled', Payload: { OrderId } })
      await publish('a', reduced({ OrderId: twice }))
      await publish('b', reduced({ OrderId: twice }, { CreationDate: '2026-11-21T08:00:00Z' }))
      await publish('c', reduced({ OrderId: twice, Total: 11 }))
      await publish('d', cancelled(cancelledFirst))
      await publish('d', cancelled(cancelledFirst))
      await publish('d', reduced({ OrderId: cancelledFirst }))
      await publish('e', reduced({ OrderId: rejected, Total: 20_000 }))
      await publish('e', cancelled(rejected))
      await publish('f', cancelled(neverCame))
      await producer.close()
      for (const id of [cancelledFirst, rejected]) await orderWith(orderUrl(stack), id ?? '', 'Cancelled')
      await eventually(async () => (await paymentsOf(paymentUrl(stack), twice ?? '')).length === 1, 'the payment')
    }

    async function ends(): Promise<string> {
      const log = openLog(stack.kafka)
      const topics = await log.topics()
      const spans = await Promise.all(topics.filter((name) => !name.startsWith('__')).map((name) => log.spans(name)))
      await log.close()
      return spans.flatMap((some) => some.map(({ end }) => end)).join()
    }

    it('stops its services, which name the rebuild, until it is rebuilt', async () => {
      await lose()
      const refused = await eventually(async () => {
        const { status, body } = await send<ProblemBody>(`${orders()}/${early.id}`)
        return status === 503 ? body : undefined
      }, 'the refusal')
      expect(refused.detail).to.match(/^The store lost data/)
      for (const { name } of storedServices) {
        const ready = await eventually(async () => {
          const answer = await fetch(`${urlOf(stack, name)}/readyz`)
          return answer.ok ? undefined : await answer.text()
        }, 'the service to be unready')
        expect(ready).to.contain(`make rebuild SERVICE=${name}`)
      }
      const none = storedServices.map(({ role }) => [role, {}])
      expect(await documents()).to.deep.equal(Object.fromEntries(none))
    })

    it('contains only the events since a given time after a rebuild from this time', async () => {
      await lose()
      stores = 'rebuilt in part'
      await operator().rebuild('order', '--from', halfTime.toISOString())
      expect(await listed()).to.deep.equal([late.id])
      await operator().rebuild('order', '--topic', 'orderevents', '--to', halfTime.toISOString())
      expect((await send<Order>(`${orders()}/${early.id}`)).body.status).to.equal('Created')
    })

    it('contains the same documents as before after a complete rebuild, which publishes nothing', async () => {
      const before = await ends()
      await rebuild()
      expect(await ends()).to.equal(before)
      expect(await documents()).to.deep.equal(live)
      expect((await listed()).toSorted()).to.deep.equal(list.toSorted())
      await orderWith(orderUrl(stack), early.id, 'Paid')
      const paid = (await listedPayments(stack)).map(({ orderId }) => orderId)
      expect(paid).to.include.members([early.id, late.id])
    })

    it('stays unchanged in another rebuild, which publishes nothing', async () => {
      await rebuilt()
      const before = await ends()
      for (const printed of await rebuild()) {
        const lines = printed.split('\n')
        const applied = lines.flatMap((line) => /^(\w+): [1-9]\d* read: (\d+) applied/.exec(line)?.slice(1) ?? [])
        expect(applied).to.have.members(['orderevents', '0', 'paymentevents', '0'])
      }
      expect(await ends()).to.equal(before)
      expect(await documents()).to.deep.equal(live)
    })

    it('returns the earlier order for a repeated Idempotency-Key, and rejects this key with another body', async () => {
      await rebuilt()
      const before = await ends()
      const again = await post<Order>(orders(), anOrder, { 'idempotency-key': key })
      expect([again.status, again.body.id, again.body.status]).to.deep.equal([201, early.id, 'Paid'])
      const other = await post<ProblemBody>(orders(), { ...anOrder, total: 43 }, { 'idempotency-key': key })
      expect([other.status, other.body.orderId]).to.deep.equal([422, early.id])
      expect(await ends()).to.equal(before)
      expect(await documents()).to.deep.equal(live)
    })

    it('stays unchanged in a rebuild while new orders arrive', async () => {
      await rebuilt()
      const rebuilds = rebuild()
      const placed = await Promise.all(Array.from({ length: 40 }, () => post<Order>(orders(), anOrder)))
      const printed = await rebuilds
      expect(printed.join()).to.match(/orderevents: \d+ read: 0 applied, [1-9]\d* already applied/)
      for (const { body } of placed) await orderWith(orderUrl(stack), body.id, 'Paid')
      const now = await settled(stack, documents)
      for (const [role, before] of Object.entries(live)) expect(now[role]).to.deep.include(before)
      const ids = await listed()
      expect(new Set(ids).size).to.equal(ids.length)
      expect(ids).to.include.members(placed.map(({ body }) => body.id))
    })

    it('contains a cancellation that arrived before its order, so that the order will not be charged', async () => {
      await rebuilt()
      const states = Object.values(await operator().documents('payment')).map(
        (document) => (document as { state: object }).state,
      )
      const undecided = states.find((state) => !('PaymentApproved' in state || 'PaymentRejected' in state))
      expect(Object.keys(undecided ?? {})).to.deep.equal(['OrderCancelled'])
    })
  })
}
