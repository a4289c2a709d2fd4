import { StackError } from '../lib/error.ts'
import { testImages } from '../lib/images.ts'
import { print, timed } from '../lib/terminal.ts'
import { composeMissing, ensureCompose } from './compose-plugin.ts'
import { docker } from './docker.ts'
import { engineMissing, ensureEngine } from './engine.ts'
import { ensureImages } from './images.ts'
import { buildServiceImages } from './service-images.ts'

/** `./orderflow engine`: a Docker engine that answers, and Compose. */
export async function engine(signal: AbortSignal): Promise<void> {
  const options = { onProgress: timed(), signal }
  await ensureEngine(options)
  await ensureCompose(options)
  const version = await docker('version', '--format', '{{.Server.Version}}')
  print(`Docker engine ${version.trim()}, ${(await docker('compose', 'version')).trim()}`)
}

/** `./orderflow images`: every image, those that others make and where each came from, and those of the services. */
export async function images(signal: AbortSignal): Promise<void> {
  const missing = (await engineMissing()) ?? (await composeMissing())
  if (missing) throw new StackError('no-engine', missing, { nextStep: './orderflow engine' })
  const onProgress = timed()
  const present = await ensureImages({ onProgress, signal }, testImages)
  await buildServiceImages(onProgress)
  const width = testImages.reduce((most, name) => Math.max(most, name.length), 0)
  for (const { name, origin, standIn } of present) {
    const from = origin === 'registry' ? 'from its registry' : 'built here'
    print(`${name.padEnd(width)}  ${standIn ? `${from}: A STAND-IN, ${standIn}` : from}`)
  }
}
