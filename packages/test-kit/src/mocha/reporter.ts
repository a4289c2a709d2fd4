import { relative } from 'node:path'
import mocha from 'mocha'
import { notRun } from './not-run.ts'

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

interface Ended {
  file?: string
  duration?: number
  fullTitle(): string
}

const most = 5
const leastMs = 1_000

/** Returns lines with the five slowest files, and the five slowest tests and hooks. Leaves out all that took less than a second. */
function slowest(ended: readonly Ended[], loadingMs: number): string[] {
  const files = new Map([['(loading the files)', loadingMs]])
  for (const { file = '', duration = 0 } of ended) {
    const name = relative(process.cwd(), file)
    files.set(name, (files.get(name) ?? 0) + duration)
  }
  const steps = ended.map((step): [string, number] => [step.fullTitle(), step.duration ?? 0])
  return [...table('slowest files:', [...files]), ...table('slowest tests and hooks:', steps)]
}

function table(title: string, rows: [name: string, ms: number][]): string[] {
  const slow = rows.filter(([, ms]) => ms >= leastMs).toSorted(([, a], [, b]) => b - a)
  const lines = slow.slice(0, most).map(([name, ms]) => `${(ms / 1_000).toFixed(1).padStart(8)} s  ${name}`)
  return lines.length > 0 ? [title, ...lines] : []
}
