import { CliError, print } from '@orderflow/stack/base'
import { changeRegion } from '@orderflow/stack/operate'
import type { Command, Given } from '../../command-line.ts'
import { nearNamedKafka } from '../../near-kafka.ts'

export const command: Command = {
  parameters: 'passive|active',
  options: {
    minutes: { value: 'N', summary: 'active: handle the events of the last N minutes again (default: 10)' },
  },
  run: nearNamedKafka('region', region),
}

/** The default of `--minutes`. Copying is seldom this late. */
const defaultMinutes = 10

/** @throws {CliError} `usage` for another role than `passive` and `active`, and for a wrong number of minutes */
async function region({ args: [role], text }: Pick<Given, 'args' | 'text'>): Promise<void> {
  const minutes = Number(text('minutes') ?? defaultMinutes)
  if ((role !== 'passive' && role !== 'active') || !Number.isInteger(minutes) || minutes < 0) {
    throw new CliError('usage', 'the role of the region, or the number of minutes, is wrong', {
      nextStep: './orderflow region passive, or ./orderflow region active --minutes 10',
    })
  }
  for (const line of await changeRegion(role, minutes * 60_000)) print(line)
  print(`the region is ${role}`)
}
