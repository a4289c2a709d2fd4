import mocha from 'mocha'

/** Mocha's spec reporter with a closing line that any CI can count: `N passed, N failed`. */
export default class Reporter extends mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options)
    runner.once('end', () => console.log(`${runner.stats.passes} passed, ${runner.stats.failures} failed`))
  }
}
