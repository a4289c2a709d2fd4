import { table } from '@orderflow/service-kit/setup'
import { startChosen } from '@orderflow/stack'
import { paint, print, timed } from '@orderflow/stack/base'
import type { Command } from '../../command-line.ts'
import { stackOptions, stackSettings } from '../../stack-options.ts'
import { nextCommand } from '../next-command.ts'

/** Restarts services and sidecars that run without traces. */
export const command: Command = {
  options: stackOptions,
  async run(given) {
    const onProgress = timed()
    const options = { observed: true, rebuild: false, onProgress, signal: given.signal() }
    const { observers } = await startChosen(stackSettings(given), options)
    onProgress(paint('green', 'observed'))
    print()
    const prometheus = `http://localhost:${observers.prometheus}`
    const pages = [
      ['traces', `http://localhost:${observers.jaeger}/`],
      ['metrics', `${prometheus}/query`],
      ['alerts', `${prometheus}/alerts`],
      ['scrape targets', `${prometheus}/targets`],
      ...(observers.grafana ? [['dashboard', `http://localhost:${observers.grafana}/d/orderflow`]] : []),
    ]
    for (const line of table(pages)) print(line)
    print()
    print(`next: ${nextCommand()}, and docs/observability.md`)
  },
}
