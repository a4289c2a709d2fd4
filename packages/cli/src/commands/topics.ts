import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import { kafkaConnection } from '../kafka/connection.ts'
import { untilAllConsume } from '../kafka/readiness.ts'
import { addPartitions, topicDifferences, topics, withAdmin } from '../kafka/topics.ts'
import { transactionsWarning } from '../kafka/transactions.ts'
import { isInside } from '../kubernetes/addresses.ts'
import { CliError } from '../lib/error.ts'
import { eventually } from '../lib/poll.ts'
import { print, timed } from '../lib/terminal.ts'
import { activeRunner, requireRunning } from './runners.ts'

/**
 * Runs `./orderflow partitions` for the Kafka that environment variables name, otherwise for the running stack. In a running stack it waits until the
 * services consume the new partitions.
 */
export async function partitions(env: NodeJS.ProcessEnv): Promise<void> {
  const tell = timed()
  // In a pod of the cluster, the variables name the Kafka of the running stack.
  const isNamed = Boolean(env.Stream__Brokers) && !isInside(env)
  const kafka = isNamed ? kafkaConnection(env) : (await requireRunning()).kafka
  const surroundings = isNamed ? 'containers' : (await activeRunner()).surroundings
  const added = await addPartitions(kafka, topics[surroundings])
  for (const line of added) tell(line)
  const warning = isNamed ? await transactionsWarning(kafka) : undefined
  for (const line of isNamed ? await topicDifferences(kafka, topics[surroundings]) : []) tell(`warning: ${line}`)
  if (warning) tell(`warning: ${warning}`)
  if (added.length === 0) return tell('every topic has the partitions of services.json')
  if (isNamed) return
  tell('waiting until the sidecars consume the new partitions')
  await untilAllConsume(kafka, tell)
}

const maxDays = 36_500

/**
 * Runs `./orderflow retention` for the same Kafka as `./orderflow partitions`. If `days` is set, it first changes the retention.
 * @throws {CliError} `usage` unless `days` is a number or `forever`
 */
export async function retention(days: string | undefined, env: NodeJS.ProcessEnv): Promise<void> {
  const kept = days ? retentionOf(days) : undefined
  const kafka = env.Stream__Brokers ? kafkaConnection(env) : (await requireRunning(['kafka'])).kafka
  const names = topics.containers.map(({ name }) => name)
  if (kept !== undefined) await keepFor(kafka, names, kept)
  for (const [name, ms] of await keptFor(kafka, names)) print(`${name}: kept ${retentionText(ms)}`)
  if (kept !== undefined && kept !== 'forever') {
    print('next: rebuild stores, because they keep events that Kafka deletes (docs/personal-data.md)')
  }
}

export function retentionOf(days: string): Retention {
  if (days === 'forever') return days
  if (/^[1-9]\d*$/.test(days) && Number(days) <= maxDays) return Number(days)
  throw new CliError('usage', `${days} is not a number of days`, {
    nextStep: './orderflow retention --days 30, or --days forever',
  })
}

type Retention = number | 'forever'

const dayMs = 24 * 60 * 60 * 1_000
const topicResource = 2 as const
const [set, remove] = [0, 1] as const

/**
 * Sets the retention, and waits until all brokers report it. The broker deletes only whole segments. With segments of one day instead of one week, it
 * deletes events at most one day late.
 */
export async function keepFor(kafka: KafkaConnection, names: string[], kept: Retention): Promise<void> {
  const keptMs = kept === 'forever' ? -1 : kept * dayMs
  const segment =
    kept === 'forever'
      ? { name: 'segment.ms', configOperation: remove }
      : { name: 'segment.ms', configOperation: set, value: String(dayMs) }
  const configs = [{ name: 'retention.ms', configOperation: set, value: String(keptMs) }, segment]
  const resources = names.map((resourceName) => ({ resourceType: topicResource, resourceName, configs }))
  await withAdmin(kafka, (admin) => admin.incrementalAlterConfigs({ resources }))
  const isSet = async () => [...(await keptFor(kafka, names)).values()].every((ms) => ms === keptMs)
  await eventually(isSet, 'the brokers to report the new retention')
}

/** Returns the retention of each topic in milliseconds. -1 means for ever. */
export async function keptFor(kafka: KafkaConnection, names: string[]): Promise<Map<string, number>> {
  const resources = names.map((resourceName) => ({
    resourceType: topicResource,
    resourceName,
    configurationKeys: ['retention.ms'],
  }))
  const found = await withAdmin(kafka, (admin) => admin.describeConfigs({ resources }))
  return new Map(found.map(({ resourceName, configs }) => [resourceName, Number(configs[0]?.value)]))
}

export function retentionText(ms: number): string {
  return ms < 0 ? 'for ever' : `for ${Number((ms / dayMs).toPrecision(3))} days`
}
