import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { OverloadError } from '../../src/sidecar/batcher.ts'
import { openInspector } from '../support/open-inspector.ts'
import { virtualTime } from '../support/virtual-time.ts'
import { batcherOf, slowBatcher } from './batchers.ts'

describe('createBatcher, about late items', () => {
  const time = virtualTime()

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

  it('still flushes an item that becomes late after the check for late items', async () => {
    time.passAtEachLook(4_000)
    expect(await batcherOf({})(1)).to.equal(2)
  })
})
