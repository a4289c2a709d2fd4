import { composeMissing } from '../containers/compose-plugin.ts'
import { containersOf } from '../containers/docker.ts'
import { engineMissing } from '../containers/engine.ts'
import { pullStackImages } from '../containers/images.ts'
import { readProject } from '../containers/project.ts'
import { StackError } from '../lib/error.ts'
import { localFolder } from '../lib/paths.ts'
import { stackStatus } from '../processes/status.ts'
import type { ProvisionOptions } from '../provision/build.ts'

/** How the stack of `make up` runs: as processes on this machine, or in containers. */
export type Way = 'local' | 'docker'

/** The way in which something of it runs now. */
export async function runningWay(): Promise<Way | undefined> {
  if (stackStatus(localFolder).some((row) => row.state === 'running')) return 'local'
  const project = readProject()
  const containers = project ? await containersOf(project.name).catch(() => []) : []
  return containers.some(({ State }) => State.Status === 'running') ? 'docker' : undefined
}

/**
 * The way that `STACK` names; without it the way that runs already, else containers where an engine, Compose and the real
 * images are at hand or can be pulled. A stand-in for an image is used only when asked for.
 * @throws {StackError} `usage` for another value, `still-running` when the stack runs the other way
 */
export async function chooseWay({ STACK: asked, STORE }: NodeJS.ProcessEnv, options: ProvisionOptions): Promise<Way> {
  if (asked && asked !== 'local' && asked !== 'docker') {
    throw new StackError('usage', `STACK=${asked} is not supported`, {
      nextStep: 'STACK is local or docker, or left out',
    })
  }
  const running = await runningWay()
  if (asked && running && asked !== running) {
    throw new StackError('still-running', `the stack runs already (STACK=${running})`, {
      nextStep: `make down, then make up STACK=${asked}`,
    })
  }
  if (asked || running) return (asked || running) as Way
  const store = STORE === 'postgresql' ? STORE : readProject()?.store
  const missing = (await engineMissing()) ?? (await composeMissing()) ?? (await pullStackImages(options, store))
  if (missing) options.onProgress(`on this machine, without containers: ${missing}`)
  else options.onProgress('in containers; STACK=local does without')
  return missing ? 'local' : 'docker'
}
