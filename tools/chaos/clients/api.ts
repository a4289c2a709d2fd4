import type { Order } from '@orderflow/order-service/order'
import type { Payment } from '@orderflow/payment-service/payment'
import { send } from '@orderflow/service-kit/testing'
import { type Addresses, urlOf } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'

export { type Answer, post, send } from '@orderflow/service-kit/testing'

export interface ProblemBody {
  type: string
  title: string
  status: number
  detail: string
  instance: string
  errors?: { pointer: string; detail: string }[]
  orderId?: string
  paymentId?: string
}

export const orderUrl = (stack: Pick<Addresses, 'services'>) => urlOf(stack, 'order-service')
export const paymentUrl = (stack: Pick<Addresses, 'services'>) => urlOf(stack, 'payment-service')

export const anOrder = { customerName: 'Ada Lovelace', customerTaxId: 'GB-123456789', total: 42.5 }

/** Waits until the order has the status, and returns the order. */
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
