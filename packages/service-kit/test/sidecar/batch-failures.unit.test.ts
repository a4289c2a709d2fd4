import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { OverloadError } from '../../src/sidecar/batcher.ts'
import { virtualTime } from '../support/virtual-time.ts'
import { batcherOf, double, slowBatcher } from './batchers.ts'

describe('createBatcher, about failures', () => {
  const time = virtualTime()

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
})
