import { print, timed } from '@orderflow/stack/base'
import { prepareImages } from '@orderflow/stack/machine'
import type { Command } from '../../command-line.ts'

/** Prints the origin of each external image. */
export const command: Command = {
  async run({ signal }) {
    const present = await prepareImages({ onProgress: timed(), signal: signal() })
    const width = present.reduce((most, { name }) => Math.max(most, name.length), 0)
    for (const { name, origin, standIn } of present) {
      const from = origin === 'registry' ? 'from its registry' : 'built here'
      print(`${name.padEnd(width)}  ${standIn ? `${from}: A STAND-IN, ${standIn}` : from}`)
    }
  },
}
