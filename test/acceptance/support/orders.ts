import { randomUUID } from 'node:crypto'
import { paths, status, urls } from '../system.ts'
import { eventually, post, send } from './http.ts'

export interface Order {
  id: string
  status: string
  total: number
  correlationId: string
  traceId: string
}
export interface Payment {
  id: string
  orderId: string
  amount: number
  status: string
}
export interface Problem {
  status: number
  title: string
  detail: string
  errors?: { pointer: string; detail: string }[]
}

export const newOrder = (total = 42.5) => ({ customerName: 'Ada Lovelace', customerTaxId: 'GB-123456789', total })

export const place = (order: unknown = newOrder(), key?: string) =>
  post<Order & Problem>(urls.orders + paths.orders, order, key === undefined ? {} : { 'idempotency-key': key })

export const orderOf = (id: string) => send<Order>(urls.orders + paths.order(id))

export const cancel = (id: string) => send<Order>(urls.orders + paths.cancel(id), { method: 'POST' })

export async function paymentsOf(orderId: string): Promise<Payment[]> {
  return (await send<{ items: Payment[] }>(urls.payments + paths.paymentsOf(orderId))).body.items
}

/** Waits until an order has a status. */
export function orderIs(id: string, wanted: string, withinMs?: number): Promise<Order> {
  return eventually(
    `order ${id} to be ${wanted}`,
    async () => {
      const { body } = await orderOf(id)
      return body.status === wanted ? body : undefined
    },
    withinMs,
  )
}

export const isPaid = (id: string, withinMs?: number) => orderIs(id, status.paid, withinMs)

/** A reduced envelope of an order from an application outside. */
export function reduced(total = 10, orderId: string = randomUUID()) {
  return {
    AppId: 'd1f6c5a2-3a3e-4b7e-9f0e-1c2d3e4f5a6b',
    AppName: 'acceptance',
    Version: 1,
    Name: 'OrderCreated',
    CreationDate: new Date().toISOString(),
    Payload: { OrderId: orderId, CustomerName: 'Grace Hopper', CustomerTaxId: 'US-1', Total: total },
  }
}

/** The same with all fields. */
export function full(total?: number, orderId?: string) {
  const trace = randomUUID()
  return { Headers: {}, Id: randomUUID(), CorrelationId: trace, TraceId: trace, ...reduced(total, orderId) }
}
