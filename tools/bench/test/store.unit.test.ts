import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import { countArrivals, openStore, paidOrders, type Store } from '../support/store.ts'

describe('openStore', () => {
  let folder: string
  let file: string
  let store: Store
  let writer: DatabaseSync | undefined

  /** Writes to Dapr’s table with its upsert (components-contrib, state/sqlite). */
  function write(...keys: string[]): void {
    writer ??= new DatabaseSync(file)
    writer.exec('PRAGMA journal_mode = WAL')
    writer.exec(
      'CREATE TABLE IF NOT EXISTS state (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL, is_binary BOOLEAN NOT NULL DEFAULT 0)',
    )
    for (const key of keys) writer.prepare('INSERT OR REPLACE INTO state (key, value) VALUES (?, ?)').run(key, '{}')
  }

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'orderflow bench '))
    file = join(folder, 'order.db')
    store = openStore(file)
  })
  afterEach(() => {
    store.close()
    writer?.close()
    writer = undefined
    rmSync(folder, { recursive: true })
  })

  it('counts no documents until the sidecar creates the file and the table', () => {
    expect(store.count({ key: '%' })).to.equal(0)
    writer = new DatabaseSync(file)
    writer.exec('PRAGMA user_version = 1')
    expect(store.count({ key: '%' })).to.equal(0)
    write('a')
    expect(store.count({ key: '%' })).to.equal(1)
  })

  it('counts each matching document once, even if it is written several times', () => {
    write('order-service||order/1/OrderCreated', 'order-service||order/1/PaymentApproved', 'order-service||list/root')
    write('order-service||order/1/PaymentApproved')
    expect(store.count({ key: '%/PaymentApproved' })).to.equal(1)
  })

  it('counts only documents with the text', () => {
    write('order-service||order/1', 'payment-service||payment/1')
    writer
      ?.prepare('UPDATE state SET value = ?, is_binary = 1 WHERE key = ?')
      .run(Buffer.from('{"state":{"PaymentApproved":{}}}').toString('base64'), 'order-service||order/1')
    expect(store.count(paidOrders)).to.equal(1)
    expect(store.news(paidOrders)).to.deep.equal(['order-service||order/1'])
    write('order-service||order/2')
    expect(store.count(paidOrders)).to.equal(1)
    expect(store.news(paidOrders)).to.deep.equal([])
  })

  it('returns every new key once, even while other keys are written again', () => {
    write('list/root', 'fact/a')
    expect(store.news({ key: 'fact/%' })).to.deep.equal(['fact/a'])
    expect(store.news({ key: 'fact/%' })).to.deep.equal([])
    const seen: string[] = []
    for (let index = 0; index < 50; index += 1) {
      write(`fact/${index}`, 'list/root')
      if (index % 3 === 0) write('list/chunk')
      if (index % 7 === 0) seen.push(...store.news({ key: 'fact/%' }))
    }
    seen.push(...store.news({ key: 'fact/%' }))
    expect(seen).to.deep.equal(Array.from({ length: 50 }, (_, index) => `fact/${index}`))
  })

  it('counts only new documents as arrivals, even if an old document is written again', () => {
    write('fact/old')
    const arrivals = countArrivals(file, { key: 'fact/%' })
    write('fact/1', 'fact/1', 'fact/1', 'list/root')
    expect(arrivals.missing(3)).to.equal('1 of 3 are stored')
    write('fact/2', 'fact/old')
    expect(arrivals.missing(3)).to.equal('2 of 3 are stored')
    write('fact/3')
    expect(arrivals.missing(3)).to.equal(undefined)
    arrivals.close()
  })
})
