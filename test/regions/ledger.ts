import { settle } from '@orderflow/chaos/backlog'
import { audit } from '@orderflow/chaos/ledger/audit'
import { type Book, openBook } from '@orderflow/chaos/ledger/book'
import { readApi } from '@orderflow/chaos/ledger/read-api'
import { readLog } from '@orderflow/chaos/ledger/read-log'
import { readStores, storedPrefixes } from '@orderflow/chaos/ledger/read-stores'
import { approveUpTo } from '@orderflow/chaos/load/orders'
import { createStore } from '@orderflow/chaos/store'
import { type LocalStack, urlOf } from '@orderflow/stack'
import { dataFolder, kafkaOf } from '@orderflow/stack/internals'
import { topics } from '@orderflow/stack/operate'
import type { Region } from './region.ts'

const consumers = Object.fromEntries(topics.processes.map(({ name, consumerGroups }) => [name, consumerGroups]))

/** Checks that compare the positions of dead letters with those of records, which differ between regions. */
const byPosition = ['a dead letter of a valid record']

interface Attempt {
  name: string
  source: 'http' | 'outside'
  total: number
  id: string | null
  accepted: number
  cancel: number
}

export const openAttempts = () => openBook(consumers)

export interface Entry {
  name: string
  id: string
}

/** Returns the orders that a client knows to be accepted. */
export const acceptedIn = (attempts: Book) =>
  attempts.query<Entry>('SELECT name, id FROM attempt WHERE accepted ORDER BY name')

/** Compares the attempts of clients with the log and the stores of a region. */
export async function auditRegion({ plan }: Region, stack: LocalStack, attempts: Book) {
  const behind = await settle(kafkaOf(plan), () => {})
  const book = openBook(consumers)
  for (const { name, source, total, id, accepted, cancel } of attempts.query<Attempt>('SELECT * FROM attempt')) {
    book.attempted({ name, source, total, ...(id && { id }) })
    if (accepted && id) book.accepted(name, id)
    if (cancel > 0) book.cancelAttempted(name)
    if (cancel > 1) book.cancelAccepted(name)
  }
  for (const { what } of attempts.query<{ what: string }>('SELECT what FROM surprise')) book.surprise(what)
  await readLog(kafkaOf(plan), book)
  await readApi((service) => urlOf(stack, service), book)
  const store = createStore('sqlite', dataFolder(plan.folder), 0)
  const stored = Object.entries(storedPrefixes).map(([service, prefix]) => [service, store.documents(service, prefix)])
  await readStores(Object.fromEntries(stored), book)
  const findings = audit(book, { views: ['api', 'store'], approveUpTo }).filter(
    ({ what }) => !byPosition.includes(what),
  )
  const [{ paid } = { paid: 0 }] = book.query<{ paid: number }>(
    "SELECT count(*) AS paid FROM stored_order WHERE view = 'api' AND status = 'Paid'",
  )
  book.close()
  return { behind, findings, paid }
}

/** The order of each record in the log of a region, by the digest of the record. */
export async function readRecords({ plan }: Region) {
  const book = openBook(consumers)
  await readLog(kafkaOf(plan), book)
  const records = book.query<{ digest: string; id: string; name: string }>(
    'SELECT digest, order_id AS id, name FROM told WHERE order_id IS NOT NULL',
  )
  book.close()
  return records
}

/** The only finding about an order whose payment was decided in both regions: two records of one payment. */
export const decidedTwice = 'several announced results of one payment'
