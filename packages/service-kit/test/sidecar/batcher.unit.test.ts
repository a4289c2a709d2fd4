import { mock } from 'node:test'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { type BatcherOptions, createBatcher, OverloadError, type Settled } from '../../src/sidecar/batcher.ts'
import { asSpan, newTraceId, type Span, within } from '../../src/telemetry/context.ts'
import { openInspector } from '../support/open-inspector.ts'
import { recordedSpans } from '../support/recorded-spans.ts'
import { virtualTime } from '../support/virtual-time.ts'

const double = async (items: number[]) => items.map((item): Settled<number> => ({ ok: true, value: item * 2 }))
const recordingIn = (batches: number[][]) => async (items: number[]) => {
  batches.push(items)
  return double(items)
}
const batcherOf = (options: Partial<BatcherOptions<number, number>>) =>
  createBatcher<number, number>({
    flush: double,
    isRefusal: () => false,
    sizeOf: () => 1,
    maxItems: 100,
    maxBytes: 100,
    maxWaiting: 100,
    minIntervalMs: 0,
    ...options,
  })

/** Returns a batcher of single items whose flush ends only when the test ends it. */
function slowBatcher(options: Partial<BatcherOptions<number, number>> = {}) {
  let done = () => {}
  const add = batcherOf({
    ...options,
    maxItems: 1,
    async flush(items) {
      await new Promise<void>((resolve) => {
        done = resolve
      })
      return double(items)
    },
  })
  return { add, endFlush: () => done() }
}

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

  it('fails all items of a batch if the flush throws, and continues with the next batch', async () => {
    let failing = true
    const add = batcherOf({
      async flush(items) {
        if (failing) throw new Error('down')
        return double(items)
      },
    })
    const results = await Promise.allSettled([add(1), add(2)])
    expect(results.map((result) => result.status)).to.deep.equal(['rejected', 'rejected'])
    failing = false
    expect(await add(4)).to.equal(8)
  })

  it('flushes a single item after a failure, then doubles the number of items with each success', async () => {
    const sizes: number[] = []
    const add = batcherOf({
      async flush(items) {
        sizes.push(items.length)
        if (sizes.length < 3) throw new Error('down')
        return double(items)
      },
    })
    const first = Promise.allSettled([add(1), add(2)])
    await new Promise(setImmediate)
    const later = await Promise.allSettled([3, 4, 5, 6, 7, 8, 9, 10].map(add))
    expect((await first).map(({ status }) => status)).to.deep.equal(['rejected', 'rejected'])
    expect(later.map(({ status }) => status)).to.deep.equal(['rejected', ...Array(7).fill('fulfilled')])
    expect(sizes).to.deep.equal([2, 1, 1, 2, 4])
  })

  it('keeps the interval between flushes even if flushes fail fast', async () => {
    let flushes = 0
    const add = batcherOf({
      minIntervalMs: 20,
      flush() {
        flushes += 1
        return Promise.reject(new Error('down'))
      },
    })
    await Promise.allSettled([add(1), add(2)])
    const later = Promise.allSettled([add(3), add(4)])
    for (const expected of [2, 3]) {
      await time.pass(19)
      expect(flushes).to.equal(expected - 1)
      await time.pass(1)
      expect(flushes).to.equal(expected)
    }
    await later
  })

  it('stops searching for a refused item when an outage begins', async () => {
    let flushes = 0
    const add = batcherOf({
      isRefusal: (error) => (error as Error).message === 'refused',
      flush() {
        flushes += 1
        return Promise.reject(new Error(flushes === 1 ? 'refused' : 'down'))
      },
    })
    const results = await Promise.allSettled([1, 2, 3, 4].map(add))
    expect(results.map((result) => result.status === 'rejected' && result.reason.message)).to.deep.equal(
      Array(4).fill('down'),
    )
    expect(flushes).to.equal(2)
  })

  it('finds the refused item by halving the batch, and flushes the other items', async () => {
    let flushes = 0
    const add = batcherOf({
      isRefusal: () => true,
      async flush(items) {
        flushes += 1
        if (items.includes(5)) throw new Error('refused')
        return double(items)
      },
    })
    const results = await Promise.allSettled([1, 2, 3, 4, 5, 6, 7, 8].map(add))
    expect(results.map(({ status }) => status)).to.deep.equal([
      ...Array(4).fill('fulfilled'),
      'rejected',
      ...Array(3).fill('fulfilled'),
    ])
    expect(flushes).to.be.at.most(7)
  })

  it('does not flush items that waited more than five seconds', async () => {
    const { add, endFlush } = slowBatcher()
    const first = add(1)
    const second = add(2).catch((error: unknown) => error)
    // The batcher checks waiting items each second, so this moment is between two checks.
    await time.pass(5_500)
    endFlush()
    expect(await first).to.equal(2)
    expect(await second).to.be.instanceOf(OverloadError)
  })

  it('fails all late items at once, even if a batch is too small for all of them', async () => {
    let done = () => {}
    const add = batcherOf({
      flush: () =>
        new Promise((_resolve, reject) => {
          done = () => reject(new Error('down'))
        }),
    })
    const first = Promise.allSettled([add(1)])
    await turn()
    const late = Promise.allSettled([add(2), add(3), add(4)])
    await time.pass(5_500)
    done()
    await first
    const reasons = (await late).map((result) => result.status === 'rejected' && result.reason.code)
    expect(reasons).to.deep.equal(['overload', 'overload', 'overload'])
  })

  it('fails late items while a flush hangs', async () => {
    const add = batcherOf({ flush: () => new Promise(() => {}) })
    add(1)
    await turn()
    let answer: unknown
    add(2).catch((error: unknown) => {
      answer = error
    })
    await time.pass(5_000)
    expect(answer).to.equal(undefined)
    await time.pass(1_000)
    expect(answer).to.be.instanceOf(OverloadError)
  })

  describe('with failures by key', () => {
    const lastDigit = (item: number) => String(item % 10)
    const down = new Error('down')
    const refused = new Error('refused')
    const outcomesOf = async (answers: Promise<number>[]) =>
      (await Promise.allSettled(answers)).map((answer) =>
        answer.status === 'fulfilled' ? answer.value : answer.reason,
      )
    /** Returns a batcher whose flush fails while `failure` is set. */
    function failingBatcher() {
      const state: { failure: Error | undefined } = { failure: down }
      const add = batcherOf({
        ...{ keyOf: lastDigit, failsByKey: true, isRefusal: (error) => error === refused },
        async flush(items) {
          if (state.failure) throw state.failure
          return double(items)
        },
      })
      return { add, state }
    }

    it('fails the waiting items of a late item’s key with the same error, and keeps items with other keys', async () => {
      const { add, endFlush } = slowBatcher({ keyOf: lastDigit, failsByKey: true })
      const first = add(3)
      await turn()
      const errors: unknown[] = []
      const note = (error: unknown) => errors.push(error)
      add(1).catch(note)
      await time.pass(4_000)
      for (const later of [11, 21]) add(later).catch(note)
      const other = add(2)
      await time.pass(2_000)
      expect(errors).to.deep.equal(Array(3).fill(errors[0]))
      expect(errors[0]).to.be.instanceOf(OverloadError).with.property('message').that.contains('no attempt began')
      endFlush()
      await first
      await time.pass(0)
      endFlush()
      expect(await other).to.equal(4)
    })

    it('fails an item that arrives in the same turn as the failure of its key, and accepts the key in the next turn', async () => {
      const { add, state } = failingBatcher()
      const failed = add(1)
      const second = failed.catch(() => {
        state.failure = undefined
        return add(11)
      })
      // Promises that follow a failure still belong to its turn.
      const third = second.catch(() => {}).then(() => add(21))
      expect(await outcomesOf([failed, second, third])).to.deep.equal([down, down, down])
      await turn()
      expect(await outcomesOf([add(31)])).to.deep.equal([62])
    })

    it('accepts items with other keys in the turn of the failure', async () => {
      const { add, state } = failingBatcher()
      const failed = add(1)
      const other = failed.catch(() => {
        state.failure = undefined
        return add(2)
      })
      expect(await outcomesOf([failed, other])).to.deep.equal([down, 4])
    })

    it('fails only the refused item of a key, so later items of the key succeed', async () => {
      const { add, state } = failingBatcher()
      state.failure = refused
      const failed = add(1)
      const second = failed.catch(() => {
        state.failure = undefined
        return add(11)
      })
      expect(await outcomesOf([failed, second])).to.deep.equal([refused, 22])
    })

    it('keeps items without a key after a failure of the empty key', async () => {
      const keyed = batcherOf({
        ...{ keyOf: (item) => (item < 0 ? undefined : ''), failsByKey: true, maxItems: 1 },
        async flush(items) {
          if (items.includes(1)) throw down
          return double(items)
        },
      })
      expect(await outcomesOf([keyed(1), keyed(-1), keyed(2)])).to.deep.equal([down, -2, down])
    })
  })

  describe('with an inspector', () => {
    openInspector()

    it('flushes items that waited while a debugger stopped the process', async () => {
      const { add, endFlush } = slowBatcher()
      const first = add(1)
      const second = add(2)
      await time.pass(60_000)
      endFlush()
      await first
      await time.pass(0)
      endFlush()
      expect(await second).to.equal(4)
    })
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

  it('still flushes an item that becomes late after the check for late items', async () => {
    time.passAtEachLook(4_000)
    expect(await batcherOf({})(1)).to.equal(2)
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
