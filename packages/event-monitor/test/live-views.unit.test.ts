import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import type { LiveBatch } from '../src/api/live.ts'
import type { MonitorIndex } from '../src/index/monitor-index.ts'
import { type IngestBatch, liveBatch } from '../src/ingest/messages.ts'
import { createLiveViews, type LiveViews } from '../src/live-views.ts'
import { application, indexRecord, orderCreated } from './support/records.ts'

describe('a live view', () => {
  let emit: (batch: IngestBatch) => void
  let views: LiveViews
  let watched: number[]
  const completeness = {
    indexLag: 0,
    newest: null,
    oldestKept: null,
    kept: 0,
    gaps: [],
    unreadable: [],
    isConnected: true,
  }

  beforeEach(() => {
    const index: Pick<MonitorIndex, 'onBatch' | 'watch' | 'completeness' | 'requireOpen'> = {
      requireOpen() {},
      onBatch(listener) {
        emit = listener
        return () => {}
      },
      watch(_, hashes) {
        watched = hashes
      },
      completeness: () => completeness,
    }
    views = createLiveViews(index as MonitorIndex, () => new Date(0))
  })
  afterEach(() => views.stop())

  function batchOf(...documents: object[]): IngestBatch {
    const records = documents.map((document, offset) => indexRecord(document, { offset, at: offset }))
    return liveBatch(
      records,
      records.map(({ kind }) => kind),
      { isLive: true, hashes: new Set() },
    )
  }

  it('receives exact counts of matching events, and at most twenty rows, newest first', async () => {
    const batches: LiveBatch[] = []
    views.open({ validity: ['valid'] }, (event, data) => {
      if (event === 'batch') batches.push(data as LiveBatch)
      return true
    })
    emit(batchOf(...Array.from({ length: 500 }, () => orderCreated()), orderCreated({}, { Total: 'x' })))
    emit(batchOf(...Array.from({ length: 30 }, () => orderCreated({ AppName: 'shop' }))))
    const sum = (of: (batch: LiveBatch) => number) => batches.reduce((total, batch) => total + of(batch), 0)
    while (sum(({ received }) => received) < 531) await delay(10)
    expect([sum(({ matched }) => matched), sum(({ invalid }) => invalid)]).to.deep.equal([530, 0])
    const countOf = (publisher: string) =>
      sum(({ added }) => added.publisher.find(({ value }) => value === publisher)?.count ?? 0)
    expect([countOf('older-application'), countOf('shop')]).to.deep.equal([500, 30])
    for (const { rows } of batches) {
      expect(rows).to.have.length.at.most(20)
      const times = rows.map(({ at }) => at)
      expect(times).to.deep.equal(times.toSorted().reverse())
    }
    expect(sum(({ rows }) => rows.length)).to.be.at.least(20)
  })

  it('receives new events whose record key is in its filter, even if the key is new', async () => {
    const batches: LiveBatch[] = []
    const topics = application.topics.map((topic) => ({ ...topic, key: ['Total'] }))
    const records = [12, 13, 12].map((Total, offset) =>
      indexRecord(orderCreated({}, { Total }), { offset, at: offset, key: String(Total) }, undefined, { topics }),
    )
    const close = views.open({ q: '12' }, (event, data) => {
      if (event === 'batch') batches.push(data as LiveBatch)
      return true
    })
    expect(watched).to.have.length(1)
    emit(
      liveBatch(
        records,
        records.map(({ kind }) => kind),
        { isLive: true, hashes: new Set(watched) },
      ),
    )
    while (batches.length === 0) await delay(10)
    expect(batches[0]?.matched).to.equal(2)
    expect(batches[0]?.rows.map(({ position }) => position.offset)).to.deep.equal(['2', '0'])
    close()
    expect(watched).to.deep.equal([])
  })

  it('drops batches for a slow client, and sends the client their counts', async () => {
    const batches: LiveBatch[] = []
    let isSlow = true
    views.open({}, (event, data) => {
      if (event !== 'batch') return true
      if (!isSlow) batches.push(data as LiveBatch)
      return !isSlow
    })
    emit(batchOf(orderCreated(), orderCreated()))
    while (views.dropped() === 0) await delay(10)
    isSlow = false
    emit(batchOf(orderCreated()))
    while (batches.length === 0) await delay(10)
    expect(batches[0]?.lost).to.deep.include({ received: 2, matched: 2 })
    expect(batches[0]?.received).to.equal(1)
  })
})
