import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import { findRows, queryOf } from '../../src/index/read/search.ts'
import { Segments } from '../../src/index/read/segments.ts'
import { Statements } from '../../src/index/sqlite.ts'
import { indexRecord, orderCreated, testIndex } from '../support/records.ts'

const start = Date.UTC(2026, 0, 1)
const moment = (ms: number) => new Date(start + ms).toISOString()
const megabytes = () => process.memoryUsage.rss() / 2 ** 20

describe('the cache of prepared statements', () => {
  it('limits the number of statements and their memory for 10,000 different queries', () => {
    const index = testIndex()
    const segments = new Segments()
    try {
      for (let offset = 0; offset < 10; offset += 1)
        index.add(
          indexRecord(orderCreated(), { offset, partition: offset % 2, at: start + offset }),
          indexRecord(orderCreated({ Name: 'StockCounted' }), { offset, topic: 'stock', at: start + offset }),
        )
      segments.follow(index.writer.segments())
      const find = (number: number) =>
        findRows(
          segments,
          queryOf({
            from: moment(-number),
            to: moment(1_000 + number),
            ...(number % 2 === 0 && { partition: number % 5_000 }),
            ...(number % 3 === 0 && { name: ['StockCounted'] }),
          }),
          1_000 + number,
          1 + (number % 3),
        )
      expect(find(5)).to.have.length(3)
      for (let number = 0; number < 1_000; number += 1) find(number)
      const before = megabytes()
      for (let number = 1_000; number < 11_000; number += 1) find(number)
      expect(megabytes() - before).to.be.below(50)
      for (const segment of segments.all()) expect(segment.statements.size).to.be.below(10)
    } finally {
      segments.close()
      index.close()
    }
  })

  it('limits the number of statements even if SQL texts contain values', () => {
    const database = new DatabaseSync(':memory:')
    const statements = new Statements(database)
    for (let value = 0; value < 1_000; value += 1) {
      expect(statements.get(`SELECT ${value} AS value`).get()).to.deep.include({ value })
    }
    expect(statements.size).to.be.below(100)
    database.close()
  })
})
