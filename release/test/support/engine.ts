import { engineMissing } from '@orderflow/stack'

const missing = await engineMissing()

/** Tests that need a Docker engine. Where there is none they are left out, in one line that says so. */
export function describeWithEngine(title: string, tests: (this: Mocha.Suite) => void): void {
  if (missing) console.log(`LEFT OUT, since ${missing}: ${title}`)
  else describe(title, tests)
}
