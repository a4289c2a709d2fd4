import mocha from 'mocha'
import { notRun } from './not-run.ts'
import { type Ended, slowest } from './slowest.ts'

/**
 * Extends Mocha's spec reporter. It lists the slowest tests, and the skipped tests with reasons. The last line is `N passed, N failed`, which any CI
 * can read.
 */
export default class Reporter extends mocha.reporters.Spec {
  constructor(runner: mocha.Runner, options: mocha.MochaOptions) {
    super(runner, options)
    const ended: Ended[] = []
    let loadingMs = 0
    runner.once('start', () => {
      loadingMs = performance.now()
    })
    for (const event of ['test end', 'hook end']) runner.on(event, (step: Ended) => ended.push(step))
    runner.once('end', () => {
      for (const line of slowest(ended, loadingMs)) console.log(line)
      for (const [reason, titles] of notRun) console.log(`not run: ${titles.join('; ')} (${reason})`)
      console.log(`${runner.stats?.passes} passed, ${runner.stats?.failures} failed`)
    })
  }
}
