import { CliError, print, timed } from '@orderflow/stack/base'
import { buildServiceImages, composeMissing, engineMissing, ensureImages, testImages } from '@orderflow/stack/machine'
import type { Command } from '../../command-line.ts'

/** Prints the origin of each external image. */
export const command: Command = {
  async run({ signal }) {
    const missing = (await engineMissing()) ?? (await composeMissing())
    if (missing) throw new CliError('no-engine', missing, { nextStep: './orderflow engine' })
    const onProgress = timed()
    const present = await ensureImages({ onProgress, signal: signal() }, testImages)
    await buildServiceImages(onProgress)
    const width = present.reduce((most, { name }) => Math.max(most, name.length), 0)
    for (const { name, origin, standIn } of present) {
      const from = origin === 'registry' ? 'from its registry' : 'built here'
      print(`${name.padEnd(width)}  ${standIn ? `${from}: A STAND-IN, ${standIn}` : from}`)
    }
  },
}
