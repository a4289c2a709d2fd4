import { CliError, print } from '@orderflow/stack/base'
import { dayMs, forever, retention } from '@orderflow/stack/operate'
import type { Command } from '../../command-line.ts'
import { nearNamedKafka } from '../../near-kafka.ts'

export const command: Command = {
  options: { days: { value: 'N|forever', summary: 'set the time to this number of days' } },
  run: nearNamedKafka('retention', async ({ text }) => {
    const days = text('days')
    const kept = days ? retentionOf(days) : undefined
    for (const [name, ms] of await retention(kept)) print(`${name}: kept ${retentionText(ms)}`)
    if (kept !== undefined && kept !== forever) {
      print('next: rebuild stores, because they keep events that Kafka deletes (docs/personal-data.md)')
    }
  }),
}

const maxDays = 36_500

/**
 * Returns milliseconds, or `forever`.
 * @throws {CliError} `usage` unless `days` is a number or `forever`
 */
export function retentionOf(days: string): number {
  if (days === 'forever') return forever
  if (/^[1-9]\d*$/.test(days) && Number(days) <= maxDays) return Number(days) * dayMs
  throw new CliError('usage', `${days} is not a number of days`, {
    nextStep: './orderflow retention --days 30, or --days forever',
  })
}

const retentionText = (ms: number) => (ms < 0 ? 'for ever' : `for ${Number((ms / dayMs).toPrecision(3))} days`)
