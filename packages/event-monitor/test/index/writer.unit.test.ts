import { readdirSync } from 'node:fs'
import { expect } from 'chai'
import fc from 'fast-check'
import type { Position } from '../../src/index/record.ts'
import { indexRecord, orderCreated, positionAfter, type TestIndex, testIndex } from '../support/records.ts'

describe('the writer of the index', () => {
  let index: TestIndex
  afterEach(() => index.close())

  const positions = () =>
    index.reads
      .events({}, 100_000, undefined)
      .items.map(({ position }) => `${position.topic}/${position.partition}/${position.offset}`)

  it('continues after its last row, without gaps or duplicates, when it was killed at any time', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            partition: fc.nat(2),
            length: fc.integer({ min: 1, max: 40 }),
            fate: fc.constantFrom('whole', 'killed', 'failed'),
          }),
          {
            maxLength: 8,
          },
        ),
        (batches) => {
          index = testIndex({ segmentEvents: 50, keepEvents: 100_000 })
          const ends = [0, 0, 0]
          for (const { partition, length, fate } of batches) {
            // Continues at the stored position, like the reader of the log.
            const next = index.writer.positions().get(`orderevents/${partition}`)?.next ?? 0
            expect(next).to.equal(ends[partition])
            const records = Array.from({ length }, (_, step) =>
              indexRecord(orderCreated(), { partition, offset: next + step }),
            )
            if (fate === 'failed') {
              const broken = [...records, { ...(records[0] as (typeof records)[number]), at: Number.NaN }]
              expect(() => index.writer.write(broken, positionAfter(records))).to.throw()
            } else {
              index.add(...records)
              ends[partition] = next + length
            }
            if (fate === 'killed') index.reopen()
          }
          index.reopen()
          const expected = ends.flatMap((end, partition) =>
            Array.from({ length: end }, (_, offset) => `orderevents/${partition}/${offset}`),
          )
          expect(positions()).to.have.members(expected)
          expect(positions()).to.have.length(expected.length)
          expect(index.reads.events({}, 1, undefined).total).to.equal(expected.length)
          index.close()
        },
      ),
      { numRuns: 8 },
    )
    index = testIndex()
  })

  it('gives new events and dead letters unused numbers after a restart', () => {
    index = testIndex()
    for (let offset = 0; offset < 6; offset += 1) {
      const topic = offset % 2 === 0 ? 'orderevents' : 'orderevents.dead'
      index.add(indexRecord(orderCreated(), { topic, offset }))
      index.reopen()
    }
    expect(positions().map((position) => position.split('/').at(-1))).to.deep.equal(['5', '4', '3', '2', '1', '0'])
  })

  it('removes the oldest segments, so that it keeps at most the configured number of events', () => {
    index = testIndex({ segmentEvents: 10, keepEvents: 30 })
    for (let offset = 0; offset < 95; offset += 5) {
      index.add(...Array.from({ length: 5 }, (_, step) => indexRecord(orderCreated(), { offset: offset + step })))
    }
    const kept = positions()
    expect(kept[0]).to.equal('orderevents/0/94')
    expect(kept).to.have.length.within(20, 30)
    expect(readdirSync(index.folder).filter((name) => /^events.*sqlite$/.test(name))).to.have.length.at.most(3)
    expect(index.writer.positions().get('orderevents/0')?.next).to.equal(95)
  })

  it('removes expired events, and keeps dead letters as long as the log has them', () => {
    let now = Date.UTC(2026, 0, 1)
    let start: Pick<Position, 'topicId' | 'next'> | undefined = { topicId: 'id', next: 0 }
    index = testIndex({ now: () => now, segmentEvents: 10, startOf: () => start })
    const day = 86_400_000
    index.add(
      indexRecord(orderCreated(), { offset: 0, at: now }),
      indexRecord('{}', { topic: 'orderevents.dead', offset: 0, at: now }),
    )
    for (let days = 1; days <= 9; days += 1) {
      now += day + 1
      index.add(indexRecord(orderCreated(), { offset: days, at: now }))
    }
    expect(positions()).to.include('orderevents.dead/0/0').and.not.to.include('orderevents/0/0')
    const addDead = (offset: number) => {
      now += 31 * day
      index.add(indexRecord('{}', { topic: 'orderevents.dead', offset, at: now }))
    }
    const kept = () => positions().filter((position) => position.startsWith('orderevents.dead'))
    for (const offset of [1, 2, 3]) addDead(offset)
    // While the start of the partition is unknown, nothing is removed.
    start = undefined
    addDead(4)
    expect(kept()).to.have.length(5)
    start = { topicId: 'id', next: 2 }
    addDead(5)
    expect(kept()).to.have.members([2, 3, 4, 5].map((offset) => `orderevents.dead/0/${offset}`))
    // The topic was deleted and created again.
    start = { topicId: 'new', next: 0 }
    addDead(6)
    expect(kept()).to.have.members([5, 6].map((offset) => `orderevents.dead/0/${offset}`))
  })

  it('keeps the gaps of the log after a restart', () => {
    index = testIndex()
    const gap = {
      topic: 'orderevents',
      partition: 0,
      from: 3,
      to: 9,
      at: Date.UTC(2026, 0, 1),
      why: 'truncated' as const,
    }
    index.writer.write([], [{ topic: 'orderevents', partition: 0, topicId: 'id', next: 9 }], [gap])
    index.reopen()
    expect(index.reads.gaps()).to.deep.equal([{ ...gap, from: '3', to: '9', at: '2026-01-01T00:00:00.000Z' }])
    expect(index.writer.positions().get('orderevents/0')?.next).to.equal(9)
  })

  it('returns the newer of two events with the same position after the topic was created again', () => {
    index = testIndex()
    index.add(indexRecord(orderCreated({ AppName: 'before' })))
    index.writer.write(
      [indexRecord(orderCreated({ AppName: 'after' }))],
      [{ topic: 'orderevents', partition: 0, topicId: 'new', next: 1 }],
    )
    index.reads.follow(index.writer.segments())
    expect(index.reads.row({ topic: 'orderevents', partition: 0, offset: '0' })?.appName).to.equal('after')
  })

  it('counts further events under the name (others) if a publisher uses more than 2,000 names', () => {
    index = testIndex({ segmentEvents: 5_000 })
    index.add(
      ...Array.from({ length: 2_100 }, (_, offset) => indexRecord(orderCreated({ Name: `Odd${offset}` }), { offset })),
    )
    const { total, name } = index.reads.facets({})
    expect(total).to.equal(2_100)
    expect(name[0]).to.deep.equal({ value: '(others)', count: 100 })
  })
})
