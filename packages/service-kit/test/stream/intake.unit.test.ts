import { mock } from 'node:test'
import { EnvelopeError, envelopeErrorCodes } from '@orderflow/envelope'
import { expect } from 'chai'
import { OverloadError } from '../../src/sidecar/batcher.ts'
import { SidecarError } from '../../src/sidecar/sidecar.ts'
import {
  createUnhandledCounter,
  faultCodes,
  faultOf,
  HandlerError,
  isInfrastructure,
  ourFaults,
  slices,
} from '../../src/stream/intake.ts'
import { contractMask } from '../../src/telemetry/mask.ts'
import { capturedLog } from '../../src/testing/captured-log.ts'

const refusals = new Set(['broken-rule'])
const refusedByStore = new SidecarError('write state', new Error('too large'), 'refused')

describe('a fault', () => {
  it('is ours for a bug and for a refusal of the platform, and the event’s when the event breaks a rule', () => {
    const isOurs = (error: unknown) => ourFaults.has(faultOf(error, refusals, contractMask).code)
    const ours = [new TypeError('a bug'), new HandlerError(new TypeError('a bug')), new HandlerError(refusedByStore)]
    expect(ours.map(isOurs)).to.deep.equal([true, true, true])
    const broken = new HandlerError(Object.assign(new Error('no'), { code: 'broken-rule' }))
    expect([new EnvelopeError({ code: 'not-json', problems: [] }), broken].map(isOurs)).to.deep.equal([false, false])
  })

  it('separates a bug of the handler from a bug of the code around it', () => {
    const bug = new TypeError('a bug')
    expect(faultOf(new HandlerError(bug), refusals, contractMask)).to.deep.equal({
      code: 'handler-error',
      detail: 'TypeError: a bug',
    })
    expect(faultOf(bug, refusals, contractMask)).to.deep.equal({ code: 'internal-error', detail: 'TypeError: a bug' })
    // Only the handler speaks for the domain.
    const broken = Object.assign(new Error('no'), { code: 'broken-rule' })
    expect(faultOf(broken, refusals, contractMask).code).to.equal('internal-error')
    expect(
      faultOf(new HandlerError(new EnvelopeError({ code: 'not-json', problems: [] })), refusals, contractMask).code,
    ).to.equal('handler-error')
  })

  it('has a code that metrics count, whatever it is', () => {
    const [ours, found] = [
      ['refused', 'handler-error', 'internal-error'],
      ['untrusted', 'broken-rule'],
    ]
    expect(faultCodes(refusals)).to.have.members([...envelopeErrorCodes, ...ours, ...found])
  })

  it('is not assumed while the same may succeed later', () => {
    const down = new SidecarError('write state', new Error('down'))
    const passing = [down, new OverloadError('full'), new HandlerError(down)]
    expect(passing.map(isInfrastructure)).to.deep.equal([true, true, true])
    const others = [refusedByStore, new Error('a bug'), new HandlerError(new Error('a bug')), undefined]
    expect(others.map(isInfrastructure)).to.deep.equal([false, false, false, false])
  })

  it('says what to correct', () => {
    const problems = [{ pointer: '/Name', message: 'is missing' }]
    const error = new EnvelopeError({ code: 'not-an-envelope', problems })
    expect(faultOf(error, refusals, contractMask)).to.deep.equal({
      code: 'not-an-envelope',
      detail: JSON.stringify(problems),
    })
    const refused = { code: 'refused', detail: refusedByStore.message }
    expect(faultOf(new HandlerError(refusedByStore), refusals, contractMask)).to.deep.equal(refused)
  })
})

const first = 'no handler for this event; more of them are counted for a minute'
const later = 'events without a handler in the last minute'

describe('events without a handler', () => {
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

  it('are logged at once when new, and counted at the end of the minute when more came', () => {
    for (const type of ['A@1', 'A@1', 'B@1', 'A@1']) count(type)
    expect(lines()).to.deep.equal([line('A@1', first), line('B@1', first)])
    mock.timers.tick(59_999)
    expect(lines()).to.deep.equal([])
    mock.timers.tick(1)
    expect(lines()).to.deep.equal([line('A@1', later, 3)])
  })

  it('are new again in the next minute, which begins with the first of them', () => {
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

  it('are counted for a whole minute, however they came in the one before', () => {
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

  it('have a line of their own up to 50 kinds a minute, all others share one', () => {
    for (let kind = 1; kind <= 60; kind += 1) count(`A${kind}@1`)
    count('A1@1')
    const logged = lines()
    expect(logged).to.have.lengthOf(51)
    expect(logged.slice(-2)).to.deep.equal([line('A50@1', first), line('(others)', first)])
    mock.timers.tick(60_000)
    expect(lines()).to.deep.equal([line('A1@1', later, 2), line('(others)', later, 10)])
  })

  it('have no name in the log that is no name of an event: it may be about somebody', () => {
    for (const type of ['Ada Lovelace ordered@1', 'ada@lovelace@1', 'Zoë@1']) count(type)
    expect(lines()).to.deep.equal([line('(no plain name)', first)])
  })

  it('have their version in the log, whatever it is', () => {
    count('A@12')
    expect(lines()).to.deep.equal([line('A@12', first)])
  })

  it('have a name of at most 80 characters in the log', () => {
    count('A'.repeat(200))
    expect(lines()).to.deep.equal([line('A'.repeat(80), first)])
  })
})

const mebibyte = 1024 * 1024
const ofBytes = (...sizes: number[]) => sizes.map((size) => ({ value: new Uint8Array(size) }))
/** How many items are in each slice. */
const lengths = (...args: Parameters<typeof slices>) => slices(...args).map(({ length }) => length)

describe('slices', () => {
  it('hold two MiB and not a byte more', () => {
    expect(lengths(ofBytes(mebibyte, mebibyte, 0, 1, mebibyte))).to.deep.equal([3, 2])
  })

  it('hold a single item that is larger', () => {
    expect(lengths(ofBytes(3 * mebibyte, 3 * mebibyte, 1))).to.deep.equal([1, 1, 1])
  })

  it('hold no more items than they may', () => {
    expect(lengths(ofBytes(1, 1, 1, 1, 1), 2)).to.deep.equal([2, 2, 1])
  })

  it('have every item, in order', () => {
    const items = ofBytes(mebibyte, mebibyte, mebibyte)
    expect(slices(items).flat()).to.deep.equal(items)
    expect(slices([])).to.deep.equal([])
  })
})
