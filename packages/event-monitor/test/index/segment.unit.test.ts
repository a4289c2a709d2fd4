import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import { Segments } from '../../src/index/read/segments.ts'
import { isSegment, openForReading, openForWriting, segmentsIn } from '../../src/index/segment.ts'

/** Locks a file for some milliseconds, as SQLite does when the last connection closes. */
const holder = `
const { parentPort, workerData } = require('node:worker_threads')
const { DatabaseSync } = require('node:sqlite')
const database = new DatabaseSync(workerData.file)
database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE; UPDATE facts SET openedAt = 2; COMMIT')
parentPort.postMessage('alone')
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, workerData.ms)
database.close()
`

describe('segments of the index', () => {
  let folder: string
  let file: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'segment-'))
    file = join(folder, 'events-000000000000001.sqlite')
    openForWriting(file, { firstSeq: 1, now: 1, rules: 'these', positions: [] }).close()
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  async function whileHeld(act: () => void): Promise<void> {
    const worker = new Worker(holder, { eval: true, workerData: { file, ms: 200 } })
    await once(worker, 'message')
    act()
    await once(worker, 'exit')
  }

  it('lets a reader wait until another thread unlocks the file', () =>
    whileHeld(() => {
      const database = openForReading(file)
      expect(database.prepare('SELECT openedAt FROM facts').get()).to.include({ openedAt: 2 })
      database.close()
    }))

  it('reads a complete file without creating other files', () => {
    const files = readdirSync(folder)
    const database = openForReading(file)
    expect(database.prepare('SELECT openedAt FROM facts').get()).to.include({ openedAt: 1 })
    expect(readdirSync(folder)).to.deep.equal(files)
    database.close()
  })

  it('lets a writer wait until another thread unlocks the file', () =>
    whileHeld(() => {
      const database = openForWriting(file, { firstSeq: 1, now: 1, rules: 'these', positions: [] })
      database.exec('UPDATE facts SET openedAt = 3')
      database.close()
    }))

  it('keeps a file that another monitor has locked', () =>
    whileHeld(() => {
      expect(segmentsIn(folder, 'events', 'these').map((one) => one.file)).to.deep.equal([file])
    }))

  it('removes a damaged file', () => {
    const other = join(folder, 'events-000000000000002.sqlite')
    writeFileSync(other, 'no database, however long it is: '.repeat(100))
    expect(isSegment(other, 'these')).to.equal(false)
    expect(segmentsIn(folder, 'events', 'these').map((one) => one.file)).to.deep.equal([file])
  })

  it('removes a segment that was written with other rules', () => {
    expect([isSegment(file, 'these'), isSegment(file, 'others')]).to.deep.equal([true, false])
    expect(segmentsIn(folder, 'events', 'others')).to.deep.equal([])
    expect(readdirSync(folder)).to.deep.equal([])
  })

  it('ignores a file that is removed before a reader opens it', () => {
    const segments = new Segments()
    const gone = join(folder, 'events-000000000000003.sqlite')
    const facts = { firstSeq: 1, count: 0, lastSeq: 0, first: 0, last: 0, openedAt: 0 }
    segments.follow([
      { ...facts, file: gone },
      { ...facts, file },
    ])
    expect(segments.all().map((one) => one.file)).to.deep.equal([file])
    segments.close()
  })
})
