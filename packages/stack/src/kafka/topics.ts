import {
  type Extent,
  extentsOf,
  type KafkaConnection,
  partitionsOf,
  protocolErrors,
  requireReadable,
  withAdmin,
} from '@orderflow/kafka-log'
import {
  clockSettings,
  clockTopic,
  deadLetterSettings,
  eventSettings,
  settingDifferences,
  type TopicSettings,
} from '@orderflow/service-kit/log'
import type { Admin } from '@platformatic/kafka'
import { doesConsume, hasClock, partitions, type Surroundings, services } from '../application/services.ts'
import { CliError } from '../base/error.ts'
import { withRetries } from '../base/run-tool.ts'

export interface TopicSpec {
  name: string
  partitions: number
  consumerGroups: string[]
  configs: TopicSettings
}

export const topics: Record<Surroundings, TopicSpec[]> = {
  processes: createTopics(partitions.processes),
  containers: createTopics(partitions.containers),
}

function createTopics(partitions: number): TopicSpec[] {
  const names = [...new Set(services.flatMap(({ consumes, produces }) => [...Object.keys(consumes), ...produces]))]
  const consumersOf = (topic: string) => services.filter(({ consumes }) => topic in consumes).map(({ name }) => name)
  return [
    ...names.map((name) => ({ name, partitions, consumerGroups: consumersOf(name), configs: eventSettings })),
    ...names.map((name) => ({ name: `${name}.dead`, partitions: 1, consumerGroups: [], configs: deadLetterSettings })),
    ...(services.some(hasClock)
      ? [{ name: clockTopic, partitions: 1, consumerGroups: [], configs: clockSettings }]
      : []),
  ]
}

/** The topics of services.json, and those of their dead letters. */
export const eventTopics: readonly string[] = topics.processes
  .map(({ name }) => name)
  .filter((name) => name !== clockTopic)

export const consumedTopics: ReadonlyMap<string, string[]> = new Map(
  services.filter(doesConsume).map(({ name, consumes }) => [name, Object.keys(consumes)]),
)

/**
 * Creates missing topics. Returns a warning for each difference between a topic and `specs`. Waits until every partition has a leader that clients
 * can find.
 */
export async function ensureTopics(kafka: KafkaConnection, specs: readonly TopicSpec[]): Promise<string[]> {
  return await withAdmin(kafka, async (admin) => {
    const existing = new Set(await admin.listTopics())
    for (const { name, partitions, configs } of specs.filter((spec) => !existing.has(spec.name))) {
      const settings = Object.entries(configs).map(([key, value]) => ({ name: key, value }))
      // -1 means the brokers' default number of replicas.
      await admin
        .createTopics({ topics: [name], partitions, replicas: -1, configs: settings })
        .catch((error: unknown) => {
          // Another command has created it in the meantime.
          if (!protocolErrors(error).includes('TOPIC_ALREADY_EXISTS')) requireAllowed(error)
        })
    }
    const extents = await untilKnown(() => extentsOf(admin, namesOf(specs)))
    const byTopic = Map.groupBy(extents, ({ topic }) => topic)
    return [...partitionWarnings(specs, byTopic), ...(await differences(admin, specs))]
  })
}

/** Returns a line for each wrong setting of a topic, with the command that corrects it. */
export async function topicDifferences(kafka: KafkaConnection, specs: TopicSpec[]): Promise<string[]> {
  return await withAdmin(kafka, (admin) => differences(admin, specs))
}

const differences = (admin: Admin, specs: readonly TopicSpec[]) =>
  settingDifferences(admin, new Map(specs.map(({ name, configs }) => [name, configs])))

function partitionWarnings(specs: readonly TopicSpec[], extents: ReadonlyMap<string, readonly Extent[]>): string[] {
  return specs.flatMap(({ name, partitions, configs }) => {
    const actual = extents.get(name)?.length ?? 0
    // Dead letters may arrive in any order, so more partitions than necessary are harmless.
    if (actual === partitions || (actual > partitions && configs === deadLetterSettings)) return []
    const nextStep =
      actual < partitions
        ? './orderflow partitions adds them'
        : `Kafka cannot remove partitions, so write ${actual} into "partitions"`
    return [`topic ${name} has ${actual} partitions, services.json has ${partitions}: ${nextStep}`]
  })
}

/**
 * Adds missing partitions. Existing records keep their partitions (docs/operations.md). Waits until the broker accepts new records, and returns a
 * line for each changed topic.
 */
export async function addPartitions(kafka: KafkaConnection, specs: TopicSpec[]): Promise<string[]> {
  return await withAdmin(kafka, async (admin) => {
    const counts = await partitionCounts(admin, namesOf(specs))
    const lacking = specs.filter(({ name, partitions }) => (counts.get(name) ?? 0) < partitions)
    if (lacking.length === 0) return []
    const topics = lacking.map(({ name, partitions }) => ({ name, count: partitions }))
    await admin.createPartitions({ topics }).catch((error: unknown) => {
      // Another command has added them in the meantime. The broker's metadata may not show them yet.
      if (!protocolErrors(error).includes('INVALID_PARTITIONS')) throw error
    })
    const wanted = lacking.reduce((sum, { partitions }) => sum + partitions, 0)
    await untilKnown(async () => {
      const { length } = await extentsOf(admin, namesOf(lacking))
      if (length < wanted) throw new Error(`the broker reports ${length} of ${wanted} partitions`)
    })
    return lacking.map(({ name, partitions }) => `${name}: ${partitions} partitions, previously ${counts.get(name)}`)
  })
}

const namesOf = (specs: readonly TopicSpec[]) => specs.map(({ name }) => name)

export function partitionCounts(admin: Admin, names: string[]): Promise<Map<string, number>> {
  return untilKnown(async () => requireReadable(await partitionsOf(admin, names)).topics)
}

/** Retries, because a broker reports new topics and their leaders with a delay. */
const untilKnown = <Result>(ask: () => Promise<Result>): Promise<Result> =>
  withRetries('the partitions', () => ask().catch(requireAllowed), 50)

/** @throws {CliError} `denied` if Kafka denies a request, because a wait does not change the user's rights; otherwise the error itself */
export function requireAllowed(error: unknown): never {
  const denial = protocolErrors(error).find((name) => name.endsWith('AUTHORIZATION_FAILED'))
  if (!denial) throw error
  throw new CliError('denied', `Kafka denies this user a request: ${denial}`, {
    nextStep: 'use a user with more rights, or give it the rights that ./orderflow acls prints',
    cause: error,
  })
}
