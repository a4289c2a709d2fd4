import { whyNoContainers } from '../../../test/containers/available.ts'
import { notRun } from '../../../test/support/not-run.ts'

const missing = await whyNoContainers()

/** Tests that need a Docker engine; without one they are named among what is not run. */
export function describeWithEngine(title: string, tests: (this: Mocha.Suite) => void): void {
  if (missing) notRun.push(`${title} (${missing})`)
  else describe(title, tests)
}
