import { currentRunner } from '@orderflow/stack'
import { CliError } from '@orderflow/stack/base'
import type { Command } from '../../command-line.ts'

/** Follows the logs of a running stack if the output is a terminal. */
export const command: Command = {
  parameters: '[SERVICE]',
  options: { follow: { summary: 'follow even without a terminal (--follow=0 shows only the end)' } },
  async run({ args: [name], flag, signal }) {
    const runner = await currentRunner()
    const names = await runner.logNames()
    if (name && !names.includes(name)) {
      throw new CliError('usage', `unknown log ${name}`, { nextStep: `SERVICE is one of ${names.join(', ')}` })
    }
    const follow = flag('follow') ?? (process.stdout.isTTY && (await runner.state()) === 'running')
    await runner.logs(name ? [name] : names, { follow, signal: signal() })
  },
}
