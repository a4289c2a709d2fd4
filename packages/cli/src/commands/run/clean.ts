import { cleanAll } from '@orderflow/stack'
import { print, timed } from '@orderflow/stack/base'
import type { Command } from '../../command-line.ts'

/** Keeps the certificate and the secrets. */
export const command: Command = {
  async run() {
    const removed = await cleanAll(timed())
    for (const each of removed) print(`removed ${each}`)
    if (removed.length === 0) print('nothing to remove')
  },
}
