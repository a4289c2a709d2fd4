import { CliError, timed } from '@orderflow/stack/base'
import { buildServiceImages, composeMissing, engineMissing, testImages } from '@orderflow/stack/internals'
import { ensureImages } from '@orderflow/stack/machine'
import { leaveOut } from '@orderflow/test-kit/not-run'

/** The reason why this machine cannot run containers, or the error that occurred when the images were prepared. */
const missing: string | Error | undefined = await bring().catch((error: Error) => error)

/**
 * Declares tests that need Docker and all images. Loading a test file pulls or builds the images, as `./orderflow images` does. Without
 * Docker the tests are skipped, or fail if CONTAINERS=required. They also fail if an image could not be pulled or built.
 */
export function describeInContainers(title: string, tests: (this: Mocha.Suite) => void): void {
  const error =
    missing && process.env.CONTAINERS === 'required' ? new Error(`CONTAINERS=required: ${missing}`) : missing
  if (!error) describe(title, tests)
  else if (typeof error === 'string') leaveOut(title, error)
  else {
    describe(title, () => {
      it('needs Docker and all images of the stack', () => {
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
