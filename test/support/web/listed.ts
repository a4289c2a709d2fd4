import { orderUrl, paymentUrl, send } from '@orderflow/chaos/clients/api'
import type { Order } from '@orderflow/order-service/order'
import type { Payment } from '@orderflow/payment-service/payment'
import type { Addresses } from '@orderflow/stack'

type Stack = Pick<Addresses, 'services'>

export async function listedOrders(stack: Stack): Promise<string[]> {
  return (await listed<Order>(`${orderUrl(stack)}/v1/orders`)).map(({ id }) => id)
}

export function listedPayments(stack: Stack): Promise<Payment[]> {
  return listed<Payment>(`${paymentUrl(stack)}/v1/payments`)
}

async function listed<T>(url: string): Promise<T[]> {
  const items: T[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor ? `&cursor=${cursor}` : ''
    const { body } = await send<{ items: T[]; next: string | null }>(`${url}?limit=100${query}`)
    items.push(...body.items)
    cursor = body.next
  }
  return items
}
