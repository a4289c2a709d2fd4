import { StackError } from '@orderflow/stack'
import { hasCompose } from '../../stack/src/docker/compose-plugin.ts'
import { engineMissing } from '../../stack/src/docker/engine.ts'
import { testImages } from '../../stack/src/docker/image-names.ts'
import { ensureImages } from '../../stack/src/docker/images.ts'
import { timed } from '../../stack/src/terminal.ts'

/**
 * Brings the images that others make, and answers in one line why this machine cannot run containers; undefined when it can.
 * @throws {StackError} when a build fails, which is a fault of ours; with CONTAINERS=required when containers cannot run
 */
export async function whyNoContainers(): Promise<string | undefined> {
  const reason = (await noEngine()) ?? (await noImages())
  if (!reason || process.env.CONTAINERS !== 'required') return reason
  throw new StackError('no-engine', `CONTAINERS=required: ${reason}`)
}

async function noEngine(): Promise<string | undefined> {
  const missing = (await engineMissing()) ?? ((await hasCompose()) ? undefined : 'docker has no compose command')
  return missing && `${missing}; next: make engine`
}

async function noImages(): Promise<string | undefined> {
  const onProgress = timed()
  try {
    for (const { name, standIn } of await ensureImages({ onProgress }, testImages)) {
      if (standIn) onProgress(`warning: ${name} is a stand-in: ${standIn}`)
    }
    return undefined
  } catch (error) {
    if (!(error instanceof StackError) || (error.code !== 'no-images' && error.code !== 'tools-missing')) throw error
    return `${error.message}; next: ${error.nextStep}`.replaceAll('\n', ' ')
  }
}
