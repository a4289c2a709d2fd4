import { syncBuiltinESMExports } from 'node:module'
import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'

/** Time that passes only when a test says so. */
export interface VirtualTime {
  /** Lets so much of it pass, and whatever waited for it run. */
  pass(ms: number): Promise<void>
  /** The same before anything else happens, as when the event loop is held up. */
  passAtOnce(ms: number): void
  /** Has so much of it pass whenever somebody looks at the clock. */
  passAtEachLook(ms: number): void
}

/** For the tests of the suite that calls it, timers and `performance.now` are on virtual time. */
export function virtualTime(): VirtualTime {
  const real = performance.now
  let now = 0
  let perLook = 0
  beforeEach(() => {
    ;[now, perLook] = [0, 0]
    mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
    mock.method(performance, 'now', () => {
      now += perLook
      return now
    })
    // Until then, what modules imported by name from node:timers/promises is the real one.
    syncBuiltinESMExports()
  })
  afterEach(() => {
    mock.timers.reset()
    mock.restoreAll()
    syncBuiltinESMExports()
    // A mock of a mock is restored to the mock: time would stand still in whatever file comes next.
    expect(performance.now).to.equal(real)
  })
  return {
    async pass(ms) {
      // What is about to start a timer has done so then.
      await turn()
      this.passAtOnce(ms)
      await turn()
    },
    passAtOnce(ms) {
      for (let passed = 0; passed < ms; passed += 1) {
        now += 1
        mock.timers.tick(1)
      }
    },
    passAtEachLook(ms) {
      perLook = ms
    },
  }
}
