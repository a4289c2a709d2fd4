import { startDev } from '@orderflow/stack'
import { timed } from '@orderflow/stack/base'
import type { Command } from '../../command-line.ts'
import { stackOptions, stackSettings } from '../../stack-options.ts'

export const command: Command = {
  parameters: '[SERVICE...]',
  options: { ...stackOptions, inspect: { summary: 'let a debugger attach to each of these services' } },
  run: (given) =>
    startDev(stackSettings(given), {
      names: given.args,
      inspected: given.flag('inspect') ?? false,
      onProgress: timed(),
      signal: given.signal(),
    }),
}
