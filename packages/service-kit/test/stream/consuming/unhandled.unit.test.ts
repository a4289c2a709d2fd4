import { mock } from 'node:test'
import { expect } from 'chai'
import { createUnhandledCounter } from '../../../src/stream/consuming/unhandled.ts'
import { capturedLog } from '../../../src/testing/captured-log.ts'

const first = 'no handler for this event; later events of this type are counted for a minute'
const later = 'events without a handler in the last minute'

describe('createUnhandledCounter', () => {
  let records: Record<string, unknown>[]
  let count: (type: string) => void
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const captured = capturedLog()
    records = captured.records
    count = createUnhandledCounter('orderevents', captured.log)
  })
  afterEach(() => mock.timers.reset())

  const lines = () => records.splice(0).map(({ topic, event, count, msg }) => ({ topic, event, count, msg }))
  const line = (event: string, msg: string, count?: number) => ({ topic: 'orderevents', event, count, msg })

  it('logs a new type at once, and the number of further events at the end of the minute', () => {
    for (const type of ['A@1', 'A@1', 'B@1', 'A@1']) count(type)
    expect(lines()).to.deep.equal([line('A@1', first), line('B@1', first)])
    mock.timers.tick(59_999)
    expect(lines()).to.deep.equal([])
    mock.timers.tick(1)
    expect(lines()).to.deep.equal([line('A@1', later, 3)])
  })

  it('logs a type again when the first minute is over and another event arrives', () => {
    count('A@1')
    mock.timers.tick(60_000)
    lines()
    mock.timers.tick(30_000)
    for (let times = 1; times <= 2; times += 1) count('A@1')
    expect(lines()).to.deep.equal([line('A@1', first)])
    mock.timers.tick(59_999)
    expect(lines()).to.deep.equal([])
    mock.timers.tick(1)
    expect(lines()).to.deep.equal([line('A@1', later, 2)])
  })

  it('begins a new minute with the first event after the previous minute', () => {
    count('A@1')
    mock.timers.tick(30_000)
    count('A@1')
    mock.timers.tick(30_000)
    lines()
    count('A@1')
    mock.timers.tick(31_000)
    count('A@1')
    expect(lines()).to.deep.equal([line('A@1', first)])
  })

  it('logs up to 50 types a minute separately, and all other types together', () => {
    for (let kind = 1; kind <= 60; kind += 1) count(`A${kind}@1`)
    count('A1@1')
    const logged = lines()
    expect(logged).to.have.lengthOf(51)
    expect(logged.slice(-2)).to.deep.equal([line('A50@1', first), line('(others)', first)])
    mock.timers.tick(60_000)
    expect(lines()).to.deep.equal([line('A1@1', later, 2), line('(others)', later, 10)])
  })

  it('hides names that are not valid event names, because they may be personal data', () => {
    for (const type of ['Ada Lovelace ordered@1', 'ada@lovelace@1', 'Zoë@1']) count(type)
    expect(lines()).to.deep.equal([line('(no plain name)', first)])
  })

  it('logs the version of an event with all its digits', () => {
    count('A@12')
    expect(lines()).to.deep.equal([line('A@12', first)])
  })

  it('cuts names to 80 characters', () => {
    count('A'.repeat(200))
    expect(lines()).to.deep.equal([line('A'.repeat(80), first)])
  })
})
