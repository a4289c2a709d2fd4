import { type Addresses, eventually, urlOf } from '@orderflow/stack'
import type { Order } from '../../order-service/src/domain/order.ts'
import type { Payment } from '../../payment-service/src/domain/payment.ts'

export interface Answer<T> {
  status: number
  headers: Headers
  body: T
}

export interface ProblemBody {
  type: string
  title: string
  status: number
  detail: string
  errors?: { pointer: string; detail: string }[]
  orderId?: string
  paymentId?: string
}

export async function send<T>(url: string, init: RequestInit = {}): Promise<Answer<T>> {
  const response = await fetch(url, init)
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: (text ? JSON.parse(text) : undefined) as T }
}

export function post<T>(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer<T>> {
  return send(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
}

/** Where orders are placed, and where payments are. */
export const orderUrl = (stack: Pick<Addresses, 'services'>) => urlOf(stack, 'order-service')
export const paymentUrl = (stack: Pick<Addresses, 'services'>) => urlOf(stack, 'payment-service')

export const anOrder = { customerName: 'Ada Lovelace', customerTaxId: 'GB-123456789', total: 42.5 }

/** The order once it has the status. */
export function orderWith(url: string, id: string, status: Order['status'], timeoutMs?: number): Promise<Order> {
  return eventually(
    async () => {
      const { body } = await send<Order>(`${url}/v1/orders/${id}`)
      return body.status === status ? body : undefined
    },
    `order ${id} to be ${status}`,
    timeoutMs,
  )
}

export async function paymentsOf(url: string, orderId: string): Promise<Payment[]> {
  return (await send<{ items: Payment[] }>(`${url}/v1/payments?orderId=${orderId}`)).body.items
}
