import { entryOf } from '@orderflow/cli'
import type { Book, StoredOrder, StoredPayment } from './book.ts'

/** A document by its key without Dapr’s prefix `<app-id>||`. */
export type StoredDocument = [key: string, document: unknown]

type Documents = Iterable<StoredDocument> | AsyncIterable<StoredDocument>

export const storedPrefixes = { 'order-service': 'order/', 'payment-service': 'payment/' }

/**
 * Reads the stores directly into the ledger, not through services and sidecars.
 * @param stores the documents of each service, in the order of their keys
 */
export async function readStores(stores: Record<string, Documents>, book: Book): Promise<void> {
  await book.together(async () => {
    for await (const order of ordersIn(entryOf(stores, 'order-service'))) book.order('store', order)
    for await (const payment of paymentsIn(entryOf(stores, 'payment-service'))) book.payment('store', payment)
  })
}

interface Fact {
  event: { Payload: { CustomerName: string; Total: number; Amount: number } }
}

interface Payment {
  state: {
    decision?: { orderId: string; amount: number; approved: boolean }
    refund?: object
  }
}

/** Builds each order from its facts. They follow each other, because the documents are in the order of their keys. */
async function* ordersIn(documents: Documents): AsyncGenerator<StoredOrder> {
  let id = ''
  let facts = new Map<string, Fact>()
  for await (const [key, document] of documents) {
    const [, orderId = '', name = ''] = key.split('/')
    if (orderId !== id) {
      yield* orderOf(id, facts)
      id = orderId
      facts = new Map()
    }
    facts.set(name, document as Fact)
  }
  yield* orderOf(id, facts)
}

/** Repeats the table in docs/orders.md instead of using order-service’s code. */
function orderOf(id: string, facts: Map<string, Fact>): StoredOrder[] {
  const created = facts.get('OrderCreated')
  if (!created) return []
  const result = facts.get('PaymentApproved') ?? facts.get('PaymentRejected')
  const { CustomerName: name, Total: total } = created.event.Payload
  return [{ id, name, total, status: statusOf(facts), charged: result?.event.Payload.Amount }]
}

function statusOf(facts: Map<string, Fact>): string {
  if (facts.has('PaymentRefunded')) return 'Refunded'
  if (facts.has('OrderCancelled')) return 'Cancelled'
  if (facts.has('PaymentApproved')) return 'Paid'
  return facts.has('PaymentRejected') ? 'PaymentRejected' : 'Created'
}

/** Skips documents that have only a cancellation. */
async function* paymentsIn(documents: Documents): AsyncGenerator<StoredPayment> {
  for await (const [key, document] of documents) {
    const { decision, refund } = (document as Payment).state
    if (!decision) continue
    const { orderId, amount, approved } = decision
    const status = approved ? (refund ? 'Refunded' : 'Approved') : 'Rejected'
    yield { id: key.split('/')[1] ?? '', orderId, amount, status }
  }
}
