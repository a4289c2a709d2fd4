import { timed } from '@orderflow/stack/base'
import { restore } from '@orderflow/stack/operate'
import type { Command } from '../../command-line.ts'
import { stackOptions, stackSettings } from '../../stack-options.ts'
import { requireFolder } from '../backup-folder.ts'

/** Writes to the Kafka that environment variables name. Otherwise writes to that of the stopped stack, and starts the stack. */
export const command: Command = {
  parameters: 'DIR',
  options: stackOptions,
  run: (given) =>
    restore(requireFolder(given.args[0], './orderflow restore ../backup'), stackSettings(given), {
      onProgress: timed(),
      signal: given.signal(),
    }),
}
