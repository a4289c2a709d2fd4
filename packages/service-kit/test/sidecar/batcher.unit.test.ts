import { mock } from 'node:test'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { OverloadError } from '../../src/sidecar/batcher.ts'
import { asSpan, newTraceId, type Span, within } from '../../src/telemetry/context.ts'
import { recordedSpans } from '../support/recorded-spans.ts'
import { virtualTime } from '../support/virtual-time.ts'
import { batcherOf, double, recordingIn } from './batchers.ts'

describe('createBatcher', () => {
  const time = virtualTime()

  it('flushes items that arrive at the same time in one batch, and returns to each caller its own result', async () => {
    const batches: number[][] = []
    const add = batcherOf({ flush: recordingIn(batches) })
    expect(await Promise.all([add(1), add(2), add(3)])).to.deep.equal([2, 4, 6])
    expect(batches).to.deep.equal([[1, 2, 3]])
  })

  it('reports the number of waiting items, and for each batch its duration and the time that its first item waited', async () => {
    let waiting = () => Number.NaN
    const told: number[][] = []
    const add = batcherOf({
      flush: async (items) => {
        await delay(30)
        return double(items)
      },
      watch: {
        opened: (count) => {
          waiting = count
        },
        flushed: (...batch) => told.push(batch.map(Math.round)),
      },
    })
    const first = add(1)
    await time.pass(0)
    const others = [add(2), add(3)]
    expect(waiting()).to.equal(2)
    await time.pass(30)
    await first
    await time.pass(30)
    await Promise.all(others)
    expect(waiting()).to.equal(0)
    expect(told).to.deep.equal([
      [1, 0, 30],
      [2, 30, 30],
    ])
  })

  it('runs one flush at a time and keeps the order of arrival', async () => {
    const batches: number[][] = []
    let inFlight = 0
    const add = batcherOf({
      maxItems: 2,
      async flush(items) {
        inFlight += 1
        expect(inFlight).to.equal(1)
        await turn()
        await turn()
        inFlight -= 1
        batches.push(items)
        return double(items)
      },
    })
    await Promise.all([1, 2, 3, 4, 5].map(add))
    expect(batches).to.deep.equal([[1, 2], [3, 4], [5]])
  })

  it('runs several flushes at the same time, but only one between a failure and the next success', async () => {
    const ends: (() => void)[] = []
    let failing = false
    const add = batcherOf({
      maxBytes: 1,
      maxInFlight: 3,
      async flush(items) {
        await new Promise<void>((resolve) => ends.push(resolve))
        if (failing) throw new Error('down')
        return double(items)
      },
    })
    const answers = Promise.allSettled([1, 2, 3, 4, 5, 6].map(add))
    const end = async () => {
      ends.shift()?.()
      await turn()
      await turn()
    }
    await turn()
    await turn()
    expect(ends).to.have.length(3)
    await end()
    expect(ends).to.have.length(3)
    failing = true
    await end()
    expect(ends).to.have.length(2)
    failing = false
    while (ends.length > 0) await end()
    const statuses = (await answers).map(({ status }) => status)
    expect(statuses).to.deep.equal(['fulfilled', 'rejected', ...Array(4).fill('fulfilled')])
  })

  it('flushes items with the same key one after the other, and items with other keys at the same time', async () => {
    const flights: { items: number[]; end: () => void }[] = []
    const add = batcherOf({
      maxItems: 2,
      maxInFlight: 2,
      keyOf: (item) => (item < 0 ? undefined : String(item % 10)),
      async flush(items) {
        await new Promise<void>((end) => flights.push({ items, end }))
        return double(items)
      },
    })
    const endOf = async (index: number) => {
      flights[index]?.end()
      for (let turns = 0; turns < 4; turns += 1) await turn()
    }
    const answers = Promise.all([1, 2, 3, 11, 21, 4, -1].map(add))
    await turn()
    await turn()
    const begun = () => flights.map(({ items }) => items)
    expect(begun()).to.deep.equal([
      [1, 2],
      [3, 4],
    ])
    await endOf(1)
    expect(begun()).to.deep.equal([[1, 2], [3, 4], [-1]])
    await endOf(0)
    expect(begun()).to.deep.equal([[1, 2], [3, 4], [-1], [11, 21]])
    await Promise.all([endOf(2), endOf(3)])
    expect(await answers).to.deep.equal([2, 4, 6, 22, 42, 8, -2])
  })

  it('flushes a new item while the only waiting item waits for its key', async () => {
    const flights: { items: number[]; end: () => void }[] = []
    const add = batcherOf({
      maxInFlight: 2,
      keyOf: (item) => String(item % 10),
      async flush(items) {
        await new Promise<void>((end) => flights.push({ items, end }))
        return double(items)
      },
    })
    const turns = async () => {
      for (let count = 0; count < 4; count += 1) await turn()
    }
    const answers = [add(1)]
    await turns()
    answers.push(add(11))
    await turns()
    answers.push(add(2))
    await turns()
    expect(flights.map(({ items }) => items)).to.deep.equal([[1], [2]])
    for (let ended = 0; ended < 3; ended += 1) {
      flights[ended]?.end()
      await turns()
    }
    expect(await Promise.all(answers)).to.deep.equal([2, 22, 4])
  })

  it('waits before the next flush, but not if a full batch is waiting or the batcher was idle', async () => {
    const batches: number[][] = []
    const add = batcherOf({ maxItems: 2, minIntervalMs: 20, flush: recordingIn(batches) })
    await add(1)
    add(2)
    await time.pass(19)
    expect(batches).to.deep.equal([[1]])
    await time.pass(1)
    expect(batches).to.deep.equal([[1], [2]])
    await Promise.all([add(3), add(4)])
    await time.pass(20)
    await add(5)
    expect(batches).to.deep.equal([[1], [2], [3, 4], [5]])
  })

  it('does not wait before the next flush if later records wait for all its items', async () => {
    const batches: number[][] = []
    const add = batcherOf({ minIntervalMs: 20, flush: recordingIn(batches) })
    const addFollowed = (item: number) => within({ document: undefined, isFollowed: true }, () => add(item))
    await addFollowed(1)
    await addFollowed(2)
    await Promise.all([addFollowed(3), addFollowed(4)])
    expect(batches).to.deep.equal([[1], [2], [3, 4]])
    const last = Promise.all([addFollowed(5), add(6)])
    await time.pass(19)
    expect(batches).to.have.length(3)
    await time.pass(1)
    await last
    expect(batches.at(-1)).to.deep.equal([5, 6])
  })

  it('limits the bytes of a batch, but flushes a larger item alone', async () => {
    const batches: number[][] = []
    const add = batcherOf({
      sizeOf: (item) => item,
      maxBytes: 10,
      flush: recordingIn(batches),
    })
    await Promise.all([6, 4, 1, 50, 2].map(add))
    expect(batches).to.deep.equal([[6, 4], [1], [50], [2]])
  })

  it('refuses an item if too many items are waiting, and keeps the waiting items', async () => {
    const add = batcherOf({ maxWaiting: 2 })
    const accepted = [add(1), add(2)]
    const refused = await add(3).catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(OverloadError)
    expect(await Promise.all(accepted)).to.deep.equal([2, 4])
  })

  it('stops its timer when it is idle', async () => {
    const set = mock.method(globalThis, 'setInterval')
    const clear = mock.method(globalThis, 'clearInterval')
    await batcherOf({})(1)
    await turn()
    expect(clear.mock.calls.map(({ arguments: [timer] }) => timer)).to.deep.equal(
      set.mock.calls.map(({ result }) => result),
    )
  })

  it('records a flush only in the traces of its own items', async () => {
    const { tracing, spans } = recordedSpans()
    const begin = () => tracing.begin('waiting', newTraceId(), undefined, { kind: 'server' })
    const [first, second, third] = [begin(), begin(), begin()]
    const add = batcherOf({
      maxItems: 3,
      flush: (items) => asSpan(`flush of ${items}`, { kind: 'client' }, () => double(items)),
    })
    const as = (span: Span, item: number) => within({ document: undefined, span }, () => add(item))
    await Promise.all([as(first, 1), as(second, 2), add(3), add(4), add(5), add(6), as(third, 7)])
    const told = spans().map(({ name, parent, links }) => ({ name, parent, links }))
    expect(told).to.deep.equal([
      { name: 'flush of 1,2,3', parent: first.context.spanId, links: [second.context.spanId] },
      { name: 'flush of 7', parent: third.context.spanId, links: [] },
    ])
  })
})
