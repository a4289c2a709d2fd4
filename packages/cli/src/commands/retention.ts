import { kafkaConnection } from '../kafka/connection.ts'
import { keepFor, keptFor, type Retention, retentionText } from '../kafka/retention.ts'
import { topics } from '../kafka/topics.ts'
import { StackError } from '../lib/error.ts'
import { print } from '../lib/terminal.ts'
import { requireRunning } from './addresses.ts'

/** More is no limit that anybody meant. */
const maxDays = 36_500

/**
 * `./orderflow retention`: says for how long Kafka keeps events and dead letters, after changing it when days are given. Of the stack that runs,
 * or of the Kafka that the environment names.
 * @throws {StackError} `usage` for anything but days or `forever`
 */
export async function retention(days: string | undefined, env: NodeJS.ProcessEnv): Promise<void> {
  const kept = days ? retentionOf(days) : undefined
  const kafka = env.Stream__Brokers ? kafkaConnection(env) : (await requireRunning(['kafka'])).kafka
  const names = topics.containers.map(({ name }) => name)
  if (kept !== undefined) await keepFor(kafka, names, kept)
  for (const [name, ms] of await keptFor(kafka, names)) print(`${name}: kept ${retentionText(ms)}`)
  if (kept !== undefined && kept !== 'forever') {
    print('next: a store keeps what the log forgets until it is rebuilt: docs/personal-data.md')
  }
}

export function retentionOf(days: string): Retention {
  if (days === 'forever') return days
  if (/^[1-9]\d*$/.test(days) && Number(days) <= maxDays) return Number(days)
  throw new StackError('usage', `${days} is not a number of days`, {
    nextStep: './orderflow retention --days 30, or --days forever',
  })
}
