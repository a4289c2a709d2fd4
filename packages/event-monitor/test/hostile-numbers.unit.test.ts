import { setTimeout as delay } from 'node:timers/promises'
import { positionText } from '@orderflow/kafka-log'
import { expect } from 'chai'
import fc from 'fast-check'
import type { LiveBatch } from '../src/api/live.ts'
import type { MonitorIndex } from '../src/index/monitor-index.ts'
import type { IndexRecord } from '../src/index/record.ts'
import { liveBatch } from '../src/ingest/messages.ts'
import { createLiveViews } from '../src/live-views.ts'
import { indexRecord, orderCreated, type TestIndex, testIndex } from './support/records.ts'

const timestamps = [-9.2e18, -8.64e15 - 1, -62_135_596_800_000, -1, 0, 1, 8.64e15, 8.64e15 + 1, 2 ** 53, 9.2e18]
const numbers = ['', '-1', '0', '1e9', '0x7', 'NaN', 'Infinity', '9'.repeat(200), '9223372036854775807']
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const deadLetter = (at: number, offset: number, over: Record<string, string> = {}): IndexRecord =>
  indexRecord('{', {
    ...{ topic: 'orderevents.dead', at, offset },
    headers: {
      'deadletter-app': 'order-service',
      'deadletter-reason': 'not-json',
      'deadletter-topic': 'orderevents',
      'deadletter-partition': '0',
      'deadletter-offset': String(offset),
      'deadletter-record': '9a1e6f0a-6f0f-5a51-8f5b-3c9b0b1b2c3d',
      'deadletter-arrived': String(at),
      ...over,
    },
  })

/** Asks all questions about the index, and returns every time of the answers. */
function askAll({ reads, writer }: TestIndex): string[] {
  const { items } = reads.events({}, 100, undefined)
  for (const { position, at } of items) {
    expect(reads.event(position)?.row.at).to.equal(at)
    reads.rejection(position)
    reads.conversationsOf('9a1e6f0a-6f0f-5a51-8f5b-3c9b0b1b2c3d')
    reads.conversation(reads.row(position)?.correlationId ?? '', [])
  }
  reads.facets({ from: '1970-01-01T00:00:00Z' })
  reads.rates({}, 0, 600_000, 5_000)
  reads.missing(Date.UTC(2026, 0, 1), undefined, 100)
  reads.gaps()
  const { groups } = reads.deadLetterGroups()
  const entries = reads.deadLetterPage(undefined, undefined, 100).items
  reads.rawEntries(entries.map(({ id }) => id))
  expect(writer.segments().every(({ first, last }) => Number.isSafeInteger(first) && Number.isSafeInteger(last)))
  return [
    ...items.map(({ at }) => at),
    ...groups.flatMap(({ oldest, newest }) => [oldest, newest]),
    ...entries.flatMap(({ attempts }) => attempts.map(({ at }) => at)),
  ]
}

describe('the monitor, about records with hostile numbers', () => {
  let index: TestIndex
  beforeEach(() => {
    index = testIndex()
  })
  afterEach(() => index.close())

  for (const at of timestamps) {
    it(`answers every question if a timestamp is ${at}, also after a restart`, () => {
      index.add(indexRecord(orderCreated(), { at }), deadLetter(at, 0))
      for (const one of askAll(index)) expect(one).to.match(time)
      index.reopen()
      const { items, total } = index.reads.events({ from: '1970-01-01T00:00:00Z' }, 100, undefined)
      expect([items.length, total]).to.deep.equal([2, 2])
      expect(askAll(index)).to.have.length.above(4)
    })

    it(`links a dead letter and its event if the event's timestamp is ${at}`, () => {
      index.add(indexRecord('{', { at }), deadLetter(at, 0))
      const { position } = index.reads.events({ topic: ['orderevents'] }, 1, undefined).items[0] ?? {}
      if (!position) throw new Error('the event is not in the index')
      expect(index.reads.event(position)?.deadLetters).to.have.length(1)
      expect(index.reads.event({ ...position, topic: 'orderevents.dead' })?.cause?.position).to.deep.equal(position)
    })

    it(`sends rows to a live view if a timestamp is ${at}`, async () => {
      const records = [indexRecord(orderCreated(), { at, headers: { 'caused-at': '1' } })]
      const batch = liveBatch(
        records,
        records.map(({ kind }) => kind),
        { isLive: true, hashes: new Set() },
      )
      let emit = (_: typeof batch) => {}
      const source: Partial<MonitorIndex> = {
        ...{ requireOpen() {}, watch() {}, completeness: () => ({}) as never },
        onBatch(listener) {
          emit = listener
          return () => {}
        },
      }
      const views = createLiveViews(source as MonitorIndex, () => new Date(0))
      const sent: LiveBatch[] = []
      views.open({}, (event, data) => event !== 'batch' || sent.push(data as LiveBatch) > 0)
      emit(batch)
      while (!sent.some(({ rows }) => rows.length > 0)) await delay(10)
      views.stop()
      expect(sent.flatMap(({ rows }) => rows)[0]?.at).to.match(time)
    })
  }

  it('answers every question, whatever numbers the headers of dead letters contain', () => {
    const names = ['partition', 'offset', 'arrived', 'replay', 'time'].map((name) => `deadletter-${name}`)
    const header = fc.tuple(fc.constantFrom(...names, 'caused-at'), fc.constantFrom(...numbers))
    const headers = fc.array(header, { maxLength: 4 }).map((all) => Object.fromEntries(all))
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...timestamps), headers), { maxLength: 6 }), (all) => {
        const own = testIndex()
        try {
          own.add(...all.map(([at, over], offset) => deadLetter(at, offset, over)))
          for (const one of askAll(own)) expect(one).to.match(time)
        } finally {
          own.close()
        }
      }),
      { numRuns: 30 },
    )
  })

  it('keeps an event whose version is no finite number', () => {
    index.add(indexRecord(JSON.stringify(orderCreated()).replace('"Version":1', '"Version":1e999')))
    expect(index.reads.events({}, 1, undefined).items[0]?.version).to.equal(null)
    expect(index.reads.facets({}).type).to.deep.equal([{ value: 'OrderCreated@null', count: 1 }])
  })

  it('opens the view of a dead letter whose record position is the largest possible one', () => {
    index.add(deadLetter(0, 0, { 'deadletter-offset': '9223372036854775807', 'deadletter-partition': '999999999' }))
    const [entry] = index.reads.deadLetterPage(undefined, undefined, 100).items
    const origin = entry?.origin ?? { topic: '', partition: 0, offset: '0' }
    expect(positionText(origin)).to.equal('orderevents/999999999/9223372036854775807')
    expect(index.reads.event(origin)).to.equal(undefined)
  })

  it('removes the events of a segment with a time in the far future after their time limit', () => {
    let now = Date.UTC(2026, 0, 1)
    const own = testIndex({ now: () => now, segmentEvents: 10 })
    try {
      own.add(
        indexRecord(orderCreated(), { at: 9.2e18, offset: 0 }),
        indexRecord(orderCreated(), { at: now, offset: 1 }),
      )
      for (let day = 1; day <= 10; day += 1) {
        now += 86_400_001
        own.add(indexRecord(orderCreated(), { at: now, offset: day + 1 }))
      }
      const kept = own.reads.events({}, 100, undefined).items.map(({ position }) => Number(position.offset))
      expect(Math.min(...kept)).to.be.above(1)
    } finally {
      own.close()
    }
  })
})
