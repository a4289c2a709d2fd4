import { audit } from '@orderflow/chaos/ledger/audit'
import type { Book } from '@orderflow/chaos/ledger/book'
import { readLog } from '@orderflow/chaos/ledger/read-log'
import { readStores, type StoredDocument, storedPrefixes } from '@orderflow/chaos/ledger/read-stores'
import { approveUpTo } from '@orderflow/chaos/load/orders'
import { eventually } from '@orderflow/stack/base'
import { expect } from 'chai'
import type { RunningContainers } from '../running-containers.ts'

/**
 * Waits until all orders of the ledger are paid, then runs the ledger’s checks. Ignores all other orders of the stack. Returns the number of
 * the ledger’s orders. Reads the complete stores without Dapr, because one request for each document takes minutes with a database stand-in.
 */
export async function expectPaidOnce({ kafka, stores }: RunningContainers, book: Book): Promise<number> {
  const read = async (service: string, prefix: string) =>
    (await stores.read(service, prefix)).map(([key, json]): StoredDocument => [key, JSON.parse(json)])
  const placed = book.query<{ name: string; id: string }>('SELECT name, id FROM attempt')
  await eventually(
    async () => {
      const orders = new Map(await read('order-service', storedPrefixes['order-service']))
      // order-service may store the payment of an order before the order itself.
      return placed.every(({ id }) => {
        const { state = {} } = Object(orders.get(`order/${id}`)) as { state?: object }
        return 'OrderCreated' in state && 'PaymentApproved' in state
      })
    },
    'every order to be paid',
    120_000,
  )

  await readLog(kafka, book)
  const stored = Object.entries(storedPrefixes).map(async ([name, prefix]) => [name, await read(name, prefix)] as const)
  await readStores(Object.fromEntries(await Promise.all(stored)), book)
  const own = new Set(placed.flatMap(({ name, id }) => [name, id]))
  const isOurs = (id: string) => own.has(id) || own.has(id.split(':')[0] ?? '')
  const findings = audit(book, { views: ['store'], approveUpTo })
    .map((finding) => ({ ...finding, ids: finding.ids.filter(isOurs) }))
    .filter(({ ids }) => ids.length > 0)
  expect(findings).to.deep.equal([])
  return placed.length
}
