import {
  buildServiceImages,
  CliError,
  composeMissing,
  engineMissing,
  ensureImages,
  testImages,
  timed,
} from '@orderflow/cli'
import { leaveOut } from '@orderflow/test-kit/not-run'

/** Why this machine cannot run containers, or the error that came of trying. */
const missing: string | Error | undefined = await bring().catch((error: Error) => error)

/**
 * Tests that need a Docker engine and the images, those of the services too, which are brought and built when a file of tests is loaded
 * (`./orderflow images` does it before). Where the machine cannot have them, these tests are named among what is not run; they fail where
 * CONTAINERS=required, and when bringing the images went wrong.
 */
export function describeInContainers(title: string, tests: (this: Mocha.Suite) => void): void {
  const error =
    missing && process.env.CONTAINERS === 'required' ? new Error(`CONTAINERS=required: ${missing}`) : missing
  if (!error) describe(title, tests)
  else if (typeof error === 'string') leaveOut(title, error)
  else {
    describe(title, () => {
      it('have what they need', () => {
        throw error
      })
    })
  }
}

async function bring(): Promise<string | undefined> {
  const noEngine = (await engineMissing()) ?? (await composeMissing())
  if (noEngine) return `${noEngine}; next: ./orderflow engine`
  const onProgress = timed()
  try {
    for (const { name, standIn } of await ensureImages({ onProgress }, testImages)) {
      if (standIn) onProgress(`warning: ${name} is a stand-in: ${standIn}`)
    }
    await buildServiceImages(onProgress)
    return undefined
  } catch (error) {
    if (!(error instanceof CliError) || (error.code !== 'no-images' && error.code !== 'tools-missing')) throw error
    return `${error.message}; next: ${error.nextStep}`.replaceAll('\n', ' ')
  }
}
