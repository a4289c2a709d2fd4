import { print } from '@orderflow/stack/base'
import { doctor } from '@orderflow/stack/machine'
import type { Command } from '../../command-line.ts'

export const command: Command = {
  options: { install: { summary: 'install the tools of tests, as root on Debian or Ubuntu' } },
  async run({ flag, signal }) {
    const { lines, canRun } = await doctor({ install: flag('install') ?? false, signal: signal() })
    for (const line of lines) print(line)
    return canRun ? 0 : 1
  },
}
