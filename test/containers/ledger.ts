import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import type { RunningStack } from '@orderflow/stack'
import { expect } from 'chai'
import type { Order } from '../../order-service/src/domain/order.ts'
import type { Payment } from '../../payment-service/src/domain/payment.ts'
import { orderWith, send } from '../support/api.ts'
import { openLog } from '../support/kafka.ts'

type Stack = Pick<RunningStack, 'orderUrl' | 'paymentUrl' | 'kafka'>

/**
 * Counts: every order is Paid, is in the list once, has one payment, and the log tells of one order and one payment,
 * however often it tells it.
 */
export async function expectPaidOnce(stack: Stack, ids: readonly string[]): Promise<void> {
  const once = Object.fromEntries(ids.map((id) => [id, 1]))
  const counted = (found: string[]) => {
    const counts = Object.groupBy(found, (id) => id)
    return Object.fromEntries(ids.map((id) => [id, counts[id]?.length ?? 0]))
  }
  for (const id of ids) await orderWith(stack.orderUrl, id, 'Paid', 60_000)
  const orders = await wholeList<Order>(`${stack.orderUrl}/v1/orders`)
  expect(counted(orders.map(({ id }) => id)), 'times in the list').to.deep.equal(once)
  const payments = await wholeList<Payment>(`${stack.paymentUrl}/v1/payments`)
  expect(counted(payments.map(({ orderId }) => orderId)), 'payments').to.deep.equal(once)
  const events = await distinctEvents(stack)
  for (const name of ['OrderCreated', 'PaymentApproved']) {
    const told = events.filter((event) => event.Name === name)
    expect(counted(told.map(({ OrderId }) => OrderId)), `${name} in the log`).to.deep.equal(once)
  }
}

async function wholeList<T>(url: string): Promise<T[]> {
  const items: T[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const path: string = cursor ? `${url}?limit=100&cursor=${cursor}` : `${url}?limit=100`
    const { body } = await send<{ items: T[]; next: string | null }>(path)
    items.push(...body.items)
    cursor = body.next
  }
  return items
}

/** The log's events by Id: one that was published again is the same. */
async function distinctEvents({ kafka }: Stack): Promise<{ Name: string; OrderId: string }[]> {
  const log = await openLog(kafka, [orderEvents, paymentEvents])
  try {
    await log.caughtUp()
    const envelopes = log.records.flatMap(({ value }) => parse(value) ?? [])
    const byId = new Map(envelopes.map((envelope) => [envelope.Id, envelope]))
    return [...byId.values()].map(({ Name, Payload }) => ({ Name, OrderId: Payload?.OrderId ?? '' }))
  } finally {
    await log.close()
  }
}

/** The specs leave records in the log that are no JSON. */
function parse(value: Buffer): { Id: string; Name: string; Payload?: { OrderId: string } } | undefined {
  try {
    return JSON.parse(value.toString()) ?? undefined
  } catch {
    return undefined
  }
}
