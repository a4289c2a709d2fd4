import { audit } from '@orderflow/chaos/ledger/audit'
import type { Book } from '@orderflow/chaos/ledger/book'
import { readLog } from '@orderflow/chaos/ledger/read-log'
import { readStores, type StoredDocument, storedPrefixes } from '@orderflow/chaos/ledger/read-stores'
import { approveUpTo } from '@orderflow/chaos/load/orders'
import { eventually } from '@orderflow/stack'
import { expect } from 'chai'
import type { MongoClient } from 'mongodb'
import type { RunningContainers } from './running-containers.ts'

/**
 * Waits until every order that the book says was placed is paid, and puts the ledger's questions about them to the log and the stores;
 * others may have placed orders on the same stack. Answers how many there are. A whole store is read at once, past Dapr: to ask the
 * services for each order would take minutes where the database is a stand-in.
 */
export async function expectPaidOnce({ kafka, mongo }: RunningContainers, book: Book): Promise<number> {
  const placed = book.query<{ name: string; id: string }>('SELECT name, id FROM attempt')
  await eventually(
    async () => {
      const keys = new Set((await read(mongo, 'order-service', storedPrefixes['order-service'])).map(([key]) => key))
      // The payment may be known first.
      return placed.every(({ id }) =>
        ['OrderCreated', 'PaymentApproved'].every((fact) => keys.has(`order/${id}/${fact}`)),
      )
    },
    'every order to be paid',
    60_000,
  )

  await readLog(kafka, book)
  const services = Object.entries(storedPrefixes)
  const stores = await Promise.all(
    services.map(async ([name, prefix]) => [name, await read(mongo, name, prefix)] as const),
  )
  readStores(Object.fromEntries(stores), book)
  const own = new Set(placed.flatMap(({ name, id }) => [name, id]))
  const isOurs = (id: string) => own.has(id) || own.has(id.split(':')[0] ?? '')
  const findings = audit(book, { views: ['store'], approveUpTo })
    .map((finding) => ({ ...finding, ids: finding.ids.filter(isOurs) }))
    .filter(({ ids }) => ids.length > 0)
  expect(findings).to.deep.equal([])
  return placed.length
}

/** The documents of a service whose keys begin so, in the order of their keys. */
async function read(mongo: MongoClient, service: string, prefix: string): Promise<StoredDocument[]> {
  const collection = mongo.db(service).collection<{ _id: string; value: string }>('daprCollection')
  const own = `${service}||`
  const found = await collection.find({ _id: { $gte: own + prefix, $lt: `${own}${prefix}~` } }).toArray()
  return found.map(({ _id, value }): StoredDocument => [_id.slice(own.length), JSON.parse(value)]).sort(byKey)
}

const byKey = ([a]: StoredDocument, [b]: StoredDocument) => (a < b ? -1 : 1)
