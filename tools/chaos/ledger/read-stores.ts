import { entryOf } from '@orderflow/stack'
import type { Book, StoredOrder, StoredPayment } from './book.ts'

/** A document by its key without Dapr’s prefix `<app-id>||`. */
export type StoredDocument = [key: string, document: unknown]

type Documents = Iterable<StoredDocument> | AsyncIterable<StoredDocument>

export const storedPrefixes = { 'order-service': 'order/', 'payment-service': 'payment/' }

/**
 * Reads the stores directly into the ledger, not through services and sidecars.
 * @param stores the documents of each service
 */
export async function readStores(stores: Record<string, Documents>, book: Book): Promise<void> {
  await book.together(async () => {
    for await (const order of ordersIn(entryOf(stores, 'order-service'))) book.order('store', order)
    for await (const payment of paymentsIn(entryOf(stores, 'payment-service'))) book.payment('store', payment)
  })
}

interface Entity {
  /** The events of the order or payment, by name. Missing if a sweep created the document, and no event has arrived. */
  state?: Record<
    string,
    { Payload: { CustomerName: string; OrderId: string; Total: number; Amount: number } } | undefined
  >
}

/** Repeats the table in docs/orders.md instead of using order-service’s code. Skips orders of which only other events arrived. */
async function* ordersIn(documents: Documents): AsyncGenerator<StoredOrder> {
  for await (const [key, document] of documents) {
    const { state = {} } = document as Entity
    if (!state.OrderCreated) continue
    const { CustomerName: name, Total: total } = state.OrderCreated.Payload
    const charged = (state.PaymentApproved ?? state.PaymentRejected)?.Payload.Amount
    yield { id: key.split('/')[1] ?? '', name, total, status: statusOf(state), charged }
  }
}

function statusOf(state: NonNullable<Entity['state']>): string {
  if (state.PaymentRefunded) return 'Refunded'
  if (state.OrderCancelled) return 'Cancelled'
  if (state.PaymentApproved) return 'Paid'
  return state.PaymentRejected ? 'PaymentRejected' : 'Created'
}

/** Skips documents that have only a cancellation. */
async function* paymentsIn(documents: Documents): AsyncGenerator<StoredPayment> {
  for await (const [key, document] of documents) {
    const {
      PaymentApproved: approved,
      PaymentRejected: rejected,
      PaymentRefunded: refunded,
    } = (document as Entity).state ?? {}
    const decision = approved ?? rejected
    if (!decision) continue
    const { OrderId: orderId, Amount: amount } = decision.Payload
    const status = approved ? (refunded ? 'Refunded' : 'Approved') : 'Rejected'
    yield { id: key.split('/')[1] ?? '', orderId, amount, status }
  }
}
