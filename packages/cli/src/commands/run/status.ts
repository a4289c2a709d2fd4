import { currentRunner, troublesOf } from '@orderflow/stack'
import { paint, print } from '@orderflow/stack/base'
import type { Command } from '../../command-line.ts'

/** Returns exit code 1 if a part of a started stack has failed. */
export const command: Command = {
  async run() {
    const runner = await currentRunner()
    const { lines, unwell, nextStep } = await runner.status()
    for (const { text, colour } of lines) print(paint(colour, text))
    if (unwell === undefined) {
      print('stopped; `make up` starts it')
      return 0
    }
    const troubles = await troublesOf(runner)
    if (troubles.length > 0) print()
    for (const trouble of troubles) print(paint('red', trouble))
    if (unwell.length === 0) return troubles.length > 0 ? 1 : 0
    print(`\n${paint('red', 'some parts have failed')}: ${unwell.join(', ')}`)
    print(`next: ${nextStep}`)
    return 1
  },
}
