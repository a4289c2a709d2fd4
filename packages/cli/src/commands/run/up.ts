import { table } from '@orderflow/service-kit/setup'
import { startChosen, watchUrl } from '@orderflow/stack'
import { paint, print, timed } from '@orderflow/stack/base'
import type { Command } from '../../command-line.ts'
import { stackOptions, stackSettings } from '../../stack-options.ts'
import { nextCommand } from '../next-command.ts'

export const command: Command = {
  options: {
    ...stackOptions,
    rebuild: { summary: 'rebuild all stores from the log before services start (docs/operations.md)' },
  },
  async run(given) {
    const onProgress = timed()
    const rebuild = given.flag('rebuild') ?? false
    const options = { observed: false, rebuild, onProgress, signal: given.signal() }
    const reached = await startChosen(stackSettings(given), options)
    onProgress(paint('green', 'up'))
    print()
    const rows = Object.entries(reached.services).map(([name, { url, httpsUrl }]) => {
      return [name, `${url}/`, ...(httpsUrl ? [`${httpsUrl}/`] : [])]
    })
    for (const line of table(rows)) print(line)
    print()
    print(`see what happens: ${watchUrl(reached)}/`)
    print(`next: ${nextCommand()}`)
  },
}
