import mocha from 'mocha'
import { kindOf } from './test-files.ts'

/** The time limits of each test and each hook in milliseconds, by the kind of the file. */
const limits = new Map([
  ['unit', 60_000],
  ['int', 120_000],
])
const limitOfOthers = 300_000

/** The events of the root suite when a file adds a suite, a test or a hook to it. */
const added = ['suite', 'test', 'beforeAll', 'beforeEach', 'afterEach', 'afterAll']

/** Mocha's limit if neither a file nor an option sets one. */
const mochaDefault = 2_000

/**
 * Mocha's interface `bdd`, with a time limit that depends on the kind of the file. `this.timeout(...)` sets another limit for a suite, test or hook. The
 * option `--timeout` and a debugger replace all limits of this interface.
 */
export default function bddWithLimits(root: mocha.Suite): void {
  mocha.interfaces.bdd(root)
  let limit = limitOfOthers
  root.on('pre-require', (_, file) => {
    limit = limits.get(kindOf(file) ?? '') ?? limitOfOthers
  })
  const apply = (each: mocha.Suite | mocha.Runnable) => {
    if (root.timeout() === mochaDefault) each.timeout(limit)
  }
  // A new suite is still empty. Its tests, hooks and suites get its limit when they are declared.
  for (const event of added) root.on(event, apply)
}
