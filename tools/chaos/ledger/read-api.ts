import type { Order } from '@orderflow/order-service/order'
import type { Payment } from '@orderflow/payment-service/payment'
import { eventually } from '@orderflow/stack/base'
import { send } from '../clients/api.ts'
import type { Book } from './book.ts'

/** Reads the lists of orders and payments into the ledger. */
export async function readApi(urlOf: (service: string) => string, book: Book): Promise<void> {
  const orders = async () => {
    for await (const { id, customerName, total, status, payment } of list<Order>(
      `${urlOf('order-service')}/v1/orders`,
    )) {
      book.order('api', { id, name: customerName, total, status, charged: payment?.amount })
    }
  }
  const payments = async () => {
    for await (const payment of list<Payment>(`${urlOf('payment-service')}/v1/payments`)) book.payment('api', payment)
  }
  await book.together(async () => {
    await Promise.all([orders(), payments()])
  })
}

async function* list<T>(url: string): AsyncGenerator<T> {
  let next: string | null = ''
  while (next !== null) {
    const page: string = `${url}?limit=100${next && `&cursor=${next}`}`
    const body: { items: T[]; next: string | null } = await eventually(async () => {
      const answer = await send<{ items: T[]; next: string | null }>(page)
      return answer.status === 200 ? answer.body : undefined
    }, `GET ${page} to answer 200`)
    yield* body.items
    next = body.next
  }
}
