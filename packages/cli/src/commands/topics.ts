import { makeActive, makePassive } from '../backup/region.ts'
import { kafkaConnection } from '../kafka/connection.ts'
import { untilAllConsume } from '../kafka/readiness.ts'
import { dayMs, forever, keepFor, keptFor } from '../kafka/retention.ts'
import { changeTopics } from '../kafka/topic-settings.ts'
import { addPartitions, topicDifferences, topics } from '../kafka/topics.ts'
import { transactionsWarning } from '../kafka/transactions.ts'
import { isInside } from '../kubernetes/addresses.ts'
import { CliError } from '../lib/error.ts'
import { print, timed } from '../lib/terminal.ts'
import { activeRunner, requireKafka, requireRunning } from './runners.ts'

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

/** The default of `./orderflow region active --minutes`. Copying is seldom this late. */
const defaultMinutes = 10

/**
 * Runs `./orderflow region` for the same Kafka as `./orderflow partitions`.
 * @throws {CliError} `usage` for another role than `passive` and `active`, and for a wrong number of minutes
 */
export async function region(
  role: string | undefined,
  given: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const minutes = Number(given ?? defaultMinutes)
  if ((role !== 'passive' && role !== 'active') || !Number.isInteger(minutes) || minutes < 0) {
    throw new CliError('usage', 'the role of the region, or the number of minutes, is wrong', {
      nextStep: './orderflow region passive, or ./orderflow region active --minutes 10',
    })
  }
  const kafka = env.Stream__Brokers ? kafkaConnection(env) : (await requireKafka()).kafka
  const specs = topics[env.Stream__Brokers ? 'containers' : (await activeRunner()).surroundings]
  if (role === 'active') for (const line of await makeActive(kafka, specs, minutes * 60_000)) print(line)
  else for (const line of await makePassive(kafka, specs)) print(`warning: ${line}`)
  print(`the region is ${role}`)
}

const maxDays = 36_500

/**
 * Runs `./orderflow retention` for the same Kafka as `./orderflow partitions`. If `days` is set, it first changes the retention.
 * @throws {CliError} `usage` unless `days` is a number or `forever`
 */
export async function retention(days: string | undefined, env: NodeJS.ProcessEnv): Promise<void> {
  const kept = days ? retentionOf(days) : undefined
  const kafka = env.Stream__Brokers ? kafkaConnection(env) : (await requireKafka()).kafka
  const names = topics.containers.map(({ name }) => name)
  if (kept !== undefined) await keepFor(kafka, names, kept)
  for (const [name, ms] of await keptFor(kafka, names)) print(`${name}: kept ${retentionText(ms)}`)
  if (kept !== undefined && kept !== forever) {
    print('next: rebuild stores, because they keep events that Kafka deletes (docs/personal-data.md)')
  }
}

/** Returns milliseconds, or `forever`. */
export function retentionOf(days: string): number {
  if (days === 'forever') return forever
  if (/^[1-9]\d*$/.test(days) && Number(days) <= maxDays) return Number(days) * dayMs
  throw new CliError('usage', `${days} is not a number of days`, {
    nextStep: './orderflow retention --days 30, or --days forever',
  })
}

export function retentionText(ms: number): string {
  return ms < 0 ? 'for ever' : `for ${Number((ms / dayMs).toPrecision(3))} days`
}

/**
 * Runs `./orderflow topic-setting` for the same Kafka as `./orderflow partitions`.
 * @throws {CliError} `usage` for an unknown topic, or a setting without a value
 */
export async function topicSetting(
  topic: string | undefined,
  setting: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const names = topics.containers.map(({ name }) => name)
  const [, name, value] = /^([a-z.]+)=(.+)$/.exec(setting ?? '') ?? []
  if (topic === undefined || !names.includes(topic) || name === undefined || value === undefined) {
    throw new CliError('usage', 'the topic is unknown, or the setting is not NAME=VALUE', {
      nextStep: `./orderflow topic-setting ${names[0] ?? 'TOPIC'} cleanup.policy=delete; the topics are ${names.join(', ')}`,
    })
  }
  const kafka = env.Stream__Brokers ? kafkaConnection(env) : (await requireKafka()).kafka
  await changeTopics(kafka, new Map([[topic, { [name]: value }]]))
  print(`${topic}: ${name} is ${value}`)
}
