import mocha from 'mocha'
import { notRun } from './support/not-run.ts'

/** Mocha's spec reporter with a closing line that any CI can count, `N passed, N failed`, below what was not run and why. */
export default class Reporter extends mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options)
    runner.once('end', () => {
      for (const [reason, titles] of notRun) console.log(`not run: ${titles.join('; ')} (${reason})`)
      console.log(`${runner.stats.passes} passed, ${runner.stats.failures} failed`)
    })
  }
}
