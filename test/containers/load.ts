import { setTimeout as delay } from 'node:timers/promises'
import { anOrder, post } from '../support/api.ts'

/** An order that was accepted in the end: its id, and how often it was asked for. */
export interface Placed {
  id: string
  attempts: number
}

const retryAfterMs = 250
const giveUpAfterMs = 120_000

/** A caller that wants its order: it sends it again, with the same key, until it is accepted. */
async function insist(orderUrl: string): Promise<Placed> {
  const headers = { 'idempotency-key': `load-${crypto.randomUUID()}` }
  const deadline = Date.now() + giveUpAfterMs
  const ids = new Set<string>()
  for (let attempts = 1; Date.now() < deadline; attempts += 1) {
    const answer = await post<{ id?: string; orderId?: string; detail?: string }>(
      `${orderUrl}/v1/orders`,
      anOrder,
      headers,
    ).catch(() => undefined)
    const id = answer?.body.id ?? answer?.body.orderId
    if (id) ids.add(id)
    if (ids.size > 1) throw new Error(`one key stood for several orders: ${[...ids].join(', ')}`)
    if (id && (answer?.status === 201 || answer?.status === 202)) return { id, attempts }
    if (answer && answer.status < 500) throw new Error(`refused with ${answer.status}: ${answer.body.detail}`)
    await delay(retryAfterMs)
  }
  throw new Error(`an order was not accepted within ${giveUpAfterMs} ms`)
}

/** Orders coming in at a steady pace, until `end`, which answers all of them once the last one is accepted. */
export function startLoad(orderUrl: string, perSecond: number): { end: () => Promise<Placed[]> } {
  const placing: Promise<Placed>[] = []
  const timer = setInterval(() => {
    const order = insist(orderUrl)
    order.catch(() => {}) // told by `end`
    placing.push(order)
  }, 1_000 / perSecond)
  return {
    end() {
      clearInterval(timer)
      return Promise.all(placing)
    },
  }
}
