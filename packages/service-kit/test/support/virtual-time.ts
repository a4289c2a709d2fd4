import { syncBuiltinESMExports } from 'node:module'
import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'

/** Time that passes only when a test advances it. */
export interface VirtualTime {
  /** Advances time, and runs the timers that are due. */
  pass(ms: number): Promise<void>
  /** Advances time before anything else happens, as if the event loop was blocked. */
  passAtOnce(ms: number): void
  /** Makes each later read of the clock advance time by `ms`. */
  passAtEachLook(ms: number): void
}

/** Puts timers and `performance.now` on virtual time for the tests of the calling suite. */
export function virtualTime(): VirtualTime {
  const [realNow, realInterval] = [performance.now, setInterval]
  let now = 0
  let perLook = 0
  beforeEach(() => {
    ;[now, perLook] = [0, 0]
    mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
    mock.method(performance, 'now', () => {
      now += perLook
      return now
    })
    // Makes imports by name from node:timers/promises use the mocks, too.
    syncBuiltinESMExports()
  })
  afterEach(() => {
    // A test may have mocked a virtual timer. The reverse order would restore this virtual timer after the real ones.
    mock.restoreAll()
    mock.timers.reset()
    syncBuiltinESMExports()
    // If a mock were left here, time would stop in the next test file.
    expect([performance.now, setInterval]).to.deep.equal([realNow, realInterval])
  })
  return {
    async pass(ms) {
      // Lets pending code start its timers first.
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
