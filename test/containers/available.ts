import { StackError, type StackErrorCode } from '@orderflow/stack'
import { ensureCompose } from '../../stack/src/docker/compose-plugin.ts'
import { ensureEngine } from '../../stack/src/docker/engine.ts'
import { testImages } from '../../stack/src/docker/image-names.ts'
import { ensureImages } from '../../stack/src/docker/images.ts'
import { timed } from '../../stack/src/terminal.ts'

/** What a machine may lack. Anything else that goes wrong is a fault of ours. */
const lacks: StackErrorCode[] = ['no-engine', 'no-images', 'tools-missing']

/**
 * Brings what containers need, but for the services' own images: an engine, Compose, and the images of the others. Answers
 * in one line why this machine cannot have it; undefined when all is there.
 * @throws {StackError} when bringing it fails, and where CONTAINERS=required when the machine cannot have it
 */
export async function whyNoContainers(): Promise<string | undefined> {
  const options = { onProgress: timed() }
  try {
    await ensureEngine(options)
    await ensureCompose(options)
    for (const { name, standIn } of await ensureImages(options, testImages)) {
      if (standIn) options.onProgress(`warning: ${name} is a stand-in: ${standIn}`)
    }
    return undefined
  } catch (error) {
    if (!(error instanceof StackError) || !lacks.includes(error.code)) throw error
    if (process.env.CONTAINERS === 'required') throw error
    return `${error.message}; next: ${error.nextStep}`.replaceAll('\n', ' ')
  }
}
