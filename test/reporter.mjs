import mocha from 'mocha'
import { notRun } from './support/not-run.ts'

/** Mocha's spec reporter with a closing line that any CI can count, `N passed, N failed`, below what was not run and why. */
export default class Reporter extends mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options)
    runner.once('end', () => {
      for (const line of notRun) console.log(`not run: ${line}`)
      console.log(`${runner.stats.passes} passed, ${runner.stats.failures} failed`)
    })
  }
}
