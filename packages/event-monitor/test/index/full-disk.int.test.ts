import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Disk, mountDisk, unmountBelow } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import type { IndexRecord } from '../../src/index/record.ts'
import { indexRecord, orderCreated, positionAfter, type TestIndex, testIndex } from '../support/records.ts'

const deadLetter = (offset: number) =>
  indexRecord('{', {
    topic: 'orderevents.dead',
    offset,
    headers: {
      'deadletter-app': 'order-service',
      'deadletter-reason': 'not-json',
      'deadletter-topic': 'orderevents',
      'deadletter-partition': '0',
      'deadletter-offset': String(offset),
    },
  })

describe('the index on a full disk', () => {
  let folder: string
  let disk: Disk
  let index: TestIndex
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'full-disk-'))
    disk = await mountDisk(folder)
  })
  after(() => {
    unmountBelow(folder)
    rmSync(folder, { recursive: true })
  })
  afterEach(async () => {
    await disk.relieve()
    index.close()
  })

  /** Returns events with a new Name and with a known Name. */
  const batch = (number: number, topic = 'orderevents'): IndexRecord[] =>
    Array.from({ length: 40 }, (_, step) =>
      indexRecord(orderCreated({ Name: step % 2 === 0 ? `Kind${number}` : `Kind${Math.floor(number / 2)}` }), {
        topic,
        offset: number * 40 + step,
      }),
    )

  function contents({ reads }: TestIndex) {
    const { items, total } = reads.events({}, 100_000, undefined)
    const kinds = reads.kinds().map(({ kind, count }) => `${kind.name} ${count}`)
    return {
      total,
      kinds: kinds.sort(),
      events: items.map(({ position, name, id }) => `${position.topic}/${position.offset} ${name} ${id}`),
    }
  }

  /** Writes batches until the disk is full, and repeats the failed write. Returns the number of the failed batch. */
  function writeUntilFull(first: number, batches: IndexRecord[][]): number {
    for (let number = first; ; number += 1) {
      const records = batches[number] as IndexRecord[]
      try {
        index.add(...records)
      } catch {
        const before = contents(index)
        expect(() => index.writer.write(records, positionAfter(records))).to.throw('full')
        expect(contents(index), 'after a failed write').to.deep.equal(before)
        return number
      }
    }
  }

  for (const [title, segmentEvents] of [
    ['in the middle of a segment', 100_000],
    ['at the end of a segment', 40],
  ] as const) {
    it(`contains all events after its disk was full ${title} and then had space again`, async () => {
      const topics = ['orderevents', 'orderevents.dead']
      const batches = Array.from({ length: 60 }, (_, number) => batch(number, topics[number % 2]))
      const good = testIndex({ segmentEvents, keepEvents: 100_000 })
      index = testIndex({ folder, segmentEvents, keepEvents: 100_000 })
      try {
        for (const records of batches) good.add(...records)
        let next = 0
        for (const [topicIndex] of topics.entries()) {
          for (; next < 5 * (topicIndex + 1); next += 1) index.add(...(batches[next] as IndexRecord[]))
          await disk.fill()
          next = writeUntilFull(next, batches)
          await disk.relieve()
          index.add(...(batches[next] as IndexRecord[]))
          next += 1
        }
        for (; next < batches.length; next += 1) index.add(...(batches[next] as IndexRecord[]))
        expect(contents(index)).to.deep.equal(contents(good))
        index.reopen()
        expect(contents(index), 'after a restart').to.deep.equal(contents(good))
        expect([...index.writer.positions()]).to.have.deep.members([...good.writer.positions()])
      } finally {
        good.close()
      }
    })
  }

  it('lists dead letters as before, and reports the full disk instead of an incomplete list', async () => {
    index = testIndex({ folder })
    index.add(...Array.from({ length: 40 }, (_, offset) => deadLetter(offset)))
    const entries = () => index.reads.deadLetterPage(undefined, 'open', 1_000).items.length
    expect(entries()).to.equal(40)
    await disk.fill()
    expect(entries()).to.equal(40)
    index.reopen()
    expect(entries(), 'after a restart').to.equal(40)
    await disk.relieve()
    index.add(...Array.from({ length: 400 }, (_, step) => deadLetter(40 + step)))
    await disk.fill()
    expect(entries).to.throw('full')
    expect(() => index.reads.prepare()).to.throw('full')
    expect(index.reads.events({}, 1).total).to.equal(440)
    await disk.relieve()
    expect(entries()).to.equal(440)
  })
})
