import { orderWith } from '@orderflow/chaos/clients/api'
import { audit } from '@orderflow/chaos/ledger/audit'
import type { Book } from '@orderflow/chaos/ledger/book'
import { readApi } from '@orderflow/chaos/ledger/read-api'
import { readLog } from '@orderflow/chaos/ledger/read-log'
import { approveUpTo } from '@orderflow/chaos/load/orders'
import { type Addresses, urlOf } from '@orderflow/stack'
import { expect } from 'chai'

/**
 * Waits until every order that the book says was placed is Paid, and puts the ledger's questions about them to the log and the
 * services; others may have placed orders on the same stack. Answers how many there are.
 */
export async function expectPaidOnce(stack: Addresses, book: Book): Promise<number> {
  const placed = book.query<{ name: string; id: string }>('SELECT name, id FROM attempt')
  for (const { id } of placed) await orderWith(urlOf(stack, 'order-service'), id, 'Paid', 60_000)
  await readLog(stack.kafka, book)
  await readApi((service) => urlOf(stack, service), book)
  const own = new Set(placed.flatMap(({ name, id }) => [name, id]))
  const isOurs = (id: string) => own.has(id) || own.has(id.split(':')[0] ?? '')
  const findings = audit(book, { views: ['api'], approveUpTo })
    .map((finding) => ({ ...finding, ids: finding.ids.filter(isOurs) }))
    .filter(({ ids }) => ids.length > 0)
  expect(findings).to.deep.equal([])
  return placed.length
}
