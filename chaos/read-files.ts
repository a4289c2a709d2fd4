import { DatabaseSync } from 'node:sqlite'
import { entryOf } from '@orderflow/stack'
import type { Book, StoredOrder, StoredPayment } from './ledger/book.ts'

/** Reads what stands in the files of the services' state stores (Dapr's state.sqlite) into the book, past services and sidecars. */
export async function readFiles(files: Record<string, string>, book: Book): Promise<void> {
  await book.together(async () => {
    for (const order of readOrders(entryOf(files, 'order-service'))) book.order('file', order)
    for (const payment of readPayments(entryOf(files, 'payment-service'))) book.payment('file', payment)
  })
}

type Document = Record<string, unknown>

/** Documents by key, without the `<app-id>||` that Dapr puts in front, in the order of their keys. */
function* documents(file: string, prefix: string): Generator<{ path: string[]; document: Document }> {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const select = db.prepare('SELECT key, value, is_binary FROM state WHERE key >= ? AND key < ? ORDER BY key')
    for (const { key, value, is_binary } of select.iterate(prefix, `${prefix}~`) as Iterable<Document>) {
      const text = is_binary ? Buffer.from(String(value), 'base64').toString() : String(value)
      yield { path: String(key).split('||').slice(1).join('||').split('/'), document: JSON.parse(text) }
    }
  } finally {
    db.close()
  }
}

interface Fact {
  event: { Payload: { CustomerName: string; Total: number; Amount: number } }
}

/** An order's facts are documents `order/ID/NAME`, one after the other. */
function* readOrders(file: string): Generator<StoredOrder> {
  let id = ''
  let facts = new Map<string, Fact>()
  for (const { path, document } of documents(file, 'order-service||order/')) {
    const [, orderId = '', name = ''] = path
    if (orderId !== id) {
      yield* orderOf(id, facts)
      id = orderId
      facts = new Map()
    }
    facts.set(name, document as unknown as Fact)
  }
  yield* orderOf(id, facts)
}

/** The table in docs/orders.md once more, not the code of order-service. */
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

/** A payment is one document, `payment/ID`; one that only knows of a cancellation is none yet. */
function* readPayments(file: string): Generator<StoredPayment> {
  for (const { path, document } of documents(file, 'payment-service||payment/')) {
    const { decision, refund } = document.state as {
      decision?: { orderId: string; amount: number; approved: boolean }
      refund?: object
    }
    if (!decision) continue
    const { orderId, amount, approved } = decision
    const status = approved ? (refund ? 'Refunded' : 'Approved') : 'Rejected'
    yield { id: path[1] ?? '', orderId, amount, status }
  }
}
