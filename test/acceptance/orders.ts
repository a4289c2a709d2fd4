import { expect } from 'chai'
import { type Answer, eventually, send } from './http.ts'
import {
  type DeadLetter,
  deadLettersOf,
  eventAt,
  eventsAbout,
  idempotencyKey,
  newOrder,
  type Order,
  type Payment,
  type Position,
  pageUrl,
  paymentEvents,
  paymentsOfOrder,
  readEvent,
  readOrder,
  readPage,
  readPayment,
  type StoredEvent,
  statuses,
  urls,
} from './system.ts'

export const post = (total: unknown, key?: string): Promise<Answer> =>
  send(urls.orders, { body: newOrder(total), ...(key !== undefined && { headers: { [idempotencyKey]: key } }) })

/** Places an order that must be accepted at once. */
export async function placeOrder(total: number, key?: string): Promise<Order> {
  const { status, body } = await post(total, key)
  expect(status, JSON.stringify(body)).to.equal(201)
  return readOrder(body)
}

export async function findOrder(id: string): Promise<Order | undefined> {
  const { status, body } = await send(`${urls.orders}/${id}`)
  if (status === 404) return undefined
  expect(status, JSON.stringify(body)).to.equal(200)
  return readOrder(body)
}

export async function orderBecomes(id: string, status: string, seconds = 30): Promise<Order> {
  let last: Order | undefined
  return await eventually(
    `order ${id} becomes ${status}`,
    async () => {
      last = await findOrder(id)
      if (last?.status === status) return last
      throw new Error(`it is ${last?.status ?? 'unknown'}`)
    },
    seconds,
  )
}

export const orderIsPaid = (id: string, seconds?: number) => orderBecomes(id, statuses.paid, seconds)

export async function paymentsOf(orderId: string): Promise<Payment[]> {
  return readPage((await send(paymentsOfOrder(orderId))).body).items.map(readPayment)
}

export async function readAll(url: string): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { items, next }: ReturnType<typeof readPage> = readPage((await send(pageUrl(url, 100, cursor))).body)
    for (const item of items) all.push(item)
    cursor = next
  }
  return all
}

export const eventsOf = async (orderId: string): Promise<StoredEvent[]> =>
  (await readAll(eventsAbout(orderId))).map(readEvent)

/** Returns the Ids of an order’s payment events. Several Ids mean several payments. */
export async function paymentEventIds(orderId: string): Promise<string[]> {
  const events = await eventsOf(orderId)
  return [...new Set(events.filter(({ name }) => paymentEvents.includes(name)).map(({ id }) => id))]
}

/** Returns a service’s dead letter for a record position, as soon as the monitor has it. */
export async function deadLetterAt(position: Position, service: string): Promise<DeadLetter> {
  return await eventually(`a dead letter of ${service} for ${Object.values(position).join('/')}`, async () => {
    const { status, body } = await send(eventAt(position))
    const letters = status === 200 ? deadLettersOf(body) : []
    return letters.find((letter) => letter.service === service)
  })
}
