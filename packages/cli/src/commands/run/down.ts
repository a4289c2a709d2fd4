import { stopAll } from '@orderflow/stack'
import { print, timed } from '@orderflow/stack/base'
import type { Command } from '../../command-line.ts'

export const command: Command = {
  run: async () => print((await stopAll(timed())) ? 'down' : 'nothing was running'),
}
