import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import {
  application,
  full,
  indexRecord,
  orderCreated,
  positionAfter,
  type RecordOptions,
  type TestIndex,
  testIndex,
} from '../support/records.ts'
import { offsets, payment, second, start } from './events.ts'

describe('reads of the index', () => {
  let index: TestIndex
  beforeEach(() => {
    index = testIndex({ segmentEvents: 20 })
  })
  afterEach(() => index.close())

  it('returns pages that list each event of all segments once, newest first', () => {
    for (let offset = 0; offset < 70; offset += 7) {
      index.add(...Array.from({ length: 7 }, (_, step) => indexRecord(orderCreated(), { offset: offset + step })))
    }
    const offsetsRead: number[] = []
    for (let cursor: number | undefined; ; ) {
      const page = index.reads.events({}, 9, cursor)
      offsetsRead.push(...offsets(page))
      if (page.next === null) break
      cursor = page.next
    }
    expect(offsetsRead).to.deep.equal(Array.from({ length: 70 }, (_, step) => 69 - step))
  })

  it('finds an event by each of its ids in upper and lower case, and by no other id', () => {
    const [id, correlation, order, cause] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
    const document = full(
      'OrderCreated',
      (orderCreated({}, { OrderId: order }).Payload ?? {}) as Record<string, unknown>,
      {
        Id: id.toUpperCase(),
        CorrelationId: correlation,
        Headers: { CausationId: cause },
      },
    )
    index.add(
      indexRecord(orderCreated(), { offset: 0 }),
      indexRecord(document, { offset: 1 }),
      indexRecord(orderCreated(), { offset: 2 }),
    )
    for (const guid of [id, correlation, order, cause]) {
      expect(offsets(index.reads.events({ guid }, 10, undefined)), guid).to.deep.equal([1])
      expect(offsets(index.reads.events({ q: guid.toUpperCase() }, 10, undefined)), guid).to.deep.equal([1])
    }
    expect(index.reads.events({ guid: randomUUID() }, 10, undefined).items).to.be.empty
    expect(index.reads.positions(id)).to.deep.equal([{ topic: 'orderevents', partition: 0, offset: '1' }])
  })

  it('finds an event by its ids in every usual spelling, even if the event or its key contains another spelling', () => {
    const [id, cause, order, key, hidden] = Array.from({ length: 5 }, () => randomUUID()) as [
      string,
      string,
      string,
      string,
      string,
    ]
    const ids = { Id: `{${id}}`, Headers: { CausationId: `urn:uuid:${cause}` } }
    index.add(
      indexRecord(orderCreated(), { offset: 0 }),
      indexRecord(orderCreated(ids, { OrderId: order.replaceAll('-', ''), Reference: hidden }), {
        offset: 1,
        key: `{${key}}`,
      }),
      indexRecord(orderCreated(), { offset: 2 }),
    )
    for (const guid of [id, cause, order, key]) {
      const hex = guid.replaceAll('-', '')
      for (const q of [guid, hex, hex.toUpperCase(), `{${guid}}`, `urn:uuid:${guid}`, `older-application ${hex}`])
        expect(offsets(index.reads.events({ q }, 10, undefined)), q).to.deep.equal([1])
    }
    // The index stores only values of fields that the contract names.
    expect(offsets(index.reads.events({ q: hidden }, 10, undefined))).to.deep.equal([])
  })

  it('finds an event by its whole record key if no field of the key is personal', () => {
    const keyed = (key: string[], document: Record<string, unknown>, options: RecordOptions) => {
      const topics = application.topics.map((topic) => ({ ...topic, key }))
      return indexRecord(document, options, undefined, { topics })
    }
    const paid = (Policy: string, Amount: number) => full('PaymentApproved', { ...payment(), Policy, Amount })
    const room = (offset: number, key: string) => ({ topic: 'paymentevents', offset, key, at: start })
    index.add(
      keyed(['Policy', 'Amount'], paid('room', 12), room(0, 'room/12')),
      keyed(['Policy', 'Amount'], paid('room', 13), room(1, 'room/13')),
      keyed(['Policy', 'Amount'], paid('blue room', 12), room(2, 'blue room/12')),
      keyed(['Policy', 'Amount'], paid('room', 12), room(3, 'Grace/12')),
      keyed(['Amount', 'CustomerName'], orderCreated({}, { Amount: 7 }), { ...room(4, '7/Grace Hopper') }),
      keyed(['Policy', 'Amount', 'Amount'], paid('a', 5), room(5, 'a/5/5')),
    )
    const found = (q: string, filter = {}) => {
      const page = index.reads.events({ ...filter, q }, 10)
      expect(page.total, q).to.equal(page.items.length)
      expect(index.reads.facets({ ...filter, q }).total, q).to.equal(page.items.length)
      return offsets(page)
    }
    expect(found('room/12')).to.deep.equal([0])
    expect(found('paymentapproved room/12')).to.deep.equal([0])
    expect(found('ordercreated room/12')).to.deep.equal([])
    expect(found('room/12', { partition: 1 })).to.deep.equal([])
    expect(found('blue room/12')).to.deep.equal([2])
    expect(found('a/5/5')).to.deep.equal([5])
    for (const q of ['room', 'room/1', 'Grace/12', '7/Grace Hopper', '*** (14 characters)', '(14'])
      expect(found(q), q).to.deep.equal([])
    const keyOf = (offset: number) =>
      index.reads.event({ topic: 'paymentevents', partition: 0, offset: String(offset) })?.body.key
    expect([0, 2, 3, 4].map(keyOf)).to.deep.equal([
      'room/12',
      'blue room/12',
      '*** (8 characters)',
      '*** (14 characters)',
    ])
  })

  it('filters by properties of events, and counts exactly the listed events', () => {
    index.add(
      indexRecord(orderCreated(), { offset: 0 }),
      indexRecord(orderCreated({ AppName: 'shop' }), { offset: 1 }),
      indexRecord(orderCreated({}, { Total: 'x' }), { offset: 2 }),
      indexRecord(orderCreated({ Name: 'StockCounted' }), { offset: 3, partition: 1 }),
      indexRecord('{"a', { offset: 4 }),
    )
    const cases: [object, number[]][] = [
      [{ name: ['OrderCreated'] }, [2, 1, 0]],
      [{ name: ['OrderCreated@1'], publisher: ['shop'] }, [1]],
      [{ validity: ['invalid-payload', 'not-json'] }, [4, 2]],
      [{ why: ['invalid-payload /Payload/Total'] }, [2]],
      [{ q: 'stock' }, [3]],
      [{ q: 'COUNTED foreign' }, [3]],
      [{ q: 'payload/tot' }, [2]],
      [{ q: 'orderevents/0/1' }, [1]],
      [{ partition: 1 }, [3]],
      [{ topic: ['paymentevents'] }, []],
    ]
    for (const [filter, expected] of cases) {
      const page = index.reads.events(filter, 10, undefined)
      expect(offsets(page), JSON.stringify(filter)).to.deep.equal(expected)
      expect(page.total, JSON.stringify(filter)).to.equal(expected.length)
    }
  })

  it('counts new events of a partition whose counts are cached', () => {
    const totals = () => [
      index.reads.events({ partition: 1 }, 1, undefined).total,
      index.reads.events({ partition: 1, name: ['StockCounted'] }, 1, undefined).total,
      index.reads.events({ partition: 1, to: new Date(start + second).toISOString() }, 1, undefined).total,
    ]
    index.add(indexRecord(orderCreated(), { offset: 0, partition: 1, at: start }))
    expect([totals(), totals()]).to.deep.equal([
      [1, 0, 1],
      [1, 0, 1],
    ])
    index.add(
      indexRecord(orderCreated({ Name: 'StockCounted' }), { offset: 1, partition: 1, at: start + 2 * second }),
      indexRecord(orderCreated(), { offset: 0, partition: 2, at: start }),
    )
    expect(totals()).to.deep.equal([2, 1, 1])
  })

  it('filters events by time ranges, and counts them by time', () => {
    for (let step = 0; step < 60; step += 1)
      index.add(indexRecord(orderCreated(), { offset: step, at: start + step * second }))
    const from = new Date(start + 20 * second).toISOString()
    const to = new Date(start + 30 * second).toISOString()
    expect(offsets(index.reads.events({ from, to }, 100, undefined))).to.deep.equal(
      Array.from({ length: 10 }, (_, step) => 29 - step),
    )
    expect(index.reads.rates({}, start, start + 60 * second, 10 * second)).to.deep.equal({
      from: '2026-01-01T00:00:00.000Z',
      step: 10,
      counts: [10, 10, 10, 10, 10, 10],
      invalid: [0, 0, 0, 0, 0, 0],
    })
  })

  it('returns rows that the writer has not reported yet, and the read positions after these rows', () => {
    const deadLetter = (offset: number) =>
      indexRecord(orderCreated(), {
        topic: 'orderevents.dead',
        offset,
        headers: {
          'deadletter-app': 'payment-service',
          'deadletter-reason': 'handler-error',
          'deadletter-topic': 'orderevents',
          'deadletter-partition': '0',
          'deadletter-offset': String(offset),
        },
      })
    const note = indexRecord('', {
      topic: 'orderevents.dead',
      offset: 2,
      headers: { 'replay-of': 'orderevents/0/1', 'replayed-as': 'orderevents/0/9' },
    })
    index.add(deadLetter(0), deadLetter(1))
    const ids = index.reads.deadLetterPage(undefined, undefined, 100).items.map(({ id }) => id)
    // Writes the note without reporting it to the reader.
    index.writer.write([note], positionAfter([note]))
    const { entries, readUpTo } = index.reads.rawEntries(ids)
    expect([...readUpTo]).to.deep.equal([['orderevents.dead/0', 3n]])
    expect(entries.map(({ entry }) => entry.attempts[0]?.replayed?.as.offset)).to.deep.equal([undefined, '9'])
  })
})
