import { CliError, eventually, groupMembers, poll, withAdmin, withRetries } from '@orderflow/cli'
import { type KafkaConnection, protocolErrors } from '@orderflow/service-kit/kafka'
import { openLog, rootMessage } from '@orderflow/service-kit/operations'
import { OperationError } from '@orderflow/service-kit/terminal'
import { settingsOf, type TopicSettings } from '@orderflow/service-kit/topic-settings'
import { Producer } from '@platformatic/kafka'
import type { TargetLog } from './copy.ts'
import type { Offsets } from './offsets.ts'
import type { Side } from './settings.ts'

/** The longest time until a Kafka that has just started accepts connections. */
const startMs = 3_000

/**
 * Returns the topics of a log.
 * @throws {CliError} `settings` if Kafka refuses the user, `unreachable` if it does not answer
 */
export async function requireTopics({ kafka, file }: Side): Promise<string[]> {
  const { bootstrapBrokers, sasl } = kafka
  const where = `Kafka at ${bootstrapBrokers}`
  let failure = 'it does not answer'
  const listed = await poll(
    () =>
      withAdmin(kafka, (admin) => admin.listTopics()).catch((cause: Error) => {
        const [refusal] = protocolErrors(cause)
        if (refusal) {
          throw new CliError('settings', `${where} refuses user ${sasl?.username}: ${refusal}`, {
            nextStep: `correct the user, the password and the mechanism in ${file}`,
            cause,
          })
        }
        failure = rootMessage(cause)
        return undefined
      }),
    { timeoutMs: startMs, everyMs: 500 },
  )
  if (listed) return listed
  throw new CliError('unreachable', `${where} is not reachable: ${failure}`, {
    nextStep: `start this Kafka, or correct its address and certificate in ${file}`,
  })
}

/** Returns the error to report after a failure of Kafka during the move. Returns other errors unchanged. */
export function moveError(error: unknown): unknown {
  const { code } = error as { code?: unknown }
  if (!(error instanceof OperationError) && !String(code).startsWith('PLT_KFK')) return error
  const nextStep = 'run the command again: it continues after the last written record'
  const message = `a Kafka failed during the move: ${rootMessage(error)}`
  return denialIn(error) ?? new CliError('unreachable', message, { nextStep, cause: error })
}

function denialIn(cause: unknown): CliError | undefined {
  const name = protocolErrors(cause).find((each) => each.endsWith('AUTHORIZATION_FAILED'))
  if (!name) return undefined
  const nextStep = 'use a user that may read, write and alter all topics and groups (docs/from-0.1.md)'
  return new CliError('denied', `Kafka denies a request of the move: ${name}`, { nextStep, cause })
}

export function openTarget(kafka: KafkaConnection): TargetLog & { close(): Promise<void> } {
  const log = openLog(kafka)
  // The client does not retry, because a retry could write a batch twice. The next run continues after the last written record.
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ clientId: 'orderflow-move', ...kafka, retries: 0 })
  return {
    spans: log.spans,
    at: log.at,
    async append(topic, partition, records) {
      const messages = records.map(({ key, value, headers, timestamp }) => ({
        ...{ topic, partition, value, timestamp: BigInt(timestamp), headers: new Map(headers) },
        ...(key !== undefined && { key }),
      }))
      await producer.send({ messages, acks: -1 })
    },
    async close() {
      await Promise.all([log.close(), producer.close()])
    },
  }
}

/** The settings of topics during the move: records keep their times, and may grow by their ids. */
const duringMove: TopicSettings = { 'message.timestamp.type': 'CreateTime', 'max.message.bytes': '2097152' }

/** Runs `work` while the topics have the settings of a move, and then restores the settings that the system requires. */
export async function withMoveSettings(
  kafka: KafkaConnection,
  topics: string[],
  work: () => Promise<void>,
): Promise<void> {
  await setTopics(kafka, topics, () => duringMove)
  try {
    await work()
  } catch (error) {
    // The error of `work` is more helpful than that of a Kafka which has ended. The next run restores the settings.
    await setTopics(kafka, topics, settingsOf).catch(() => {})
    throw error
  }
  await setTopics(kafka, topics, settingsOf)
}

const topicResource = 2 as const
const [set, remove] = [0, 1] as const

/** Sets the settings that differ during the move. A setting that `settingsFor` lacks gets the broker's default. */
async function setTopics(
  kafka: KafkaConnection,
  topics: string[],
  settingsFor: (topic: string) => TopicSettings,
): Promise<void> {
  const wanted = topics.flatMap((topic) =>
    Object.keys(duringMove).map((name) => ({ topic, name, value: settingsFor(topic)[name] })),
  )
  const resources = [...Map.groupBy(wanted, ({ topic }) => topic)].map(([resourceName, own]) => ({
    resourceType: topicResource,
    resourceName,
    configs: own.map(({ name, value }) =>
      value === undefined ? { name, configOperation: remove } : { name, value, configOperation: set },
    ),
  }))
  await withAdmin(kafka, async (admin) => {
    await admin.incrementalAlterConfigs({ resources })
    const isSet = async () => {
      const asked = topics.map((resourceName) => ({
        ...{ resourceType: topicResource, resourceName, configurationKeys: Object.keys(duringMove) },
      }))
      const found = await admin.describeConfigs({ resources: asked })
      return wanted.every(({ topic, name, value }) => {
        const actual = found.find(({ resourceName }) => resourceName === topic)?.configs
        return value === undefined || actual?.find((config) => config.name === name)?.value === value
      })
    }
    await eventually(isSet, 'the brokers to report the settings of the topics')
  })
}

/** The time after which Kafka removes members that were killed; hosted brokers allow several seconds (`Stream.SessionTimeout`). */
const sessionMs = 15_000

/** @throws {CliError} `still-running` if a consumer group has members */
export async function requireStopped(
  kafka: KafkaConnection,
  groups: string[],
  { folder, tell }: { folder: string; tell: (line: string) => void },
): Promise<void> {
  for (const group of groups) {
    const isEmpty = async () => (await membersOf(kafka, group)).size === 0
    if (await isEmpty()) continue
    tell(`${group}: waiting until it leaves Kafka at ${kafka.bootstrapBrokers}, at most ${sessionMs / 1_000} seconds`)
    if (await poll(isEmpty, { timeoutMs: sessionMs })) continue
    throw new CliError('still-running', `${group} still uses Kafka at ${kafka.bootstrapBrokers}`, {
      nextStep: `run make down in ${folder}, or stop the service on its platform`,
    })
  }
}

function membersOf(kafka: KafkaConnection, group: string): Promise<Set<string>> {
  return withRetries('Kafka', () =>
    groupMembers(kafka, [group]).catch((error: unknown) => {
      if (protocolErrors(error).includes('GROUP_ID_NOT_FOUND')) return new Set<string>()
      throw denialIn(error) ?? error
    }),
  )
}

/**
 * Gives each consumer group its position in the new log, so that services continue after their last event. A group that already has a later position
 * keeps it.
 */
export async function moveGroups(
  from: KafkaConnection,
  to: KafkaConnection,
  groups: string[],
  offsets: Offsets,
): Promise<void> {
  const old = await committed(from, groups)
  const known = new Map((await committed(to, groups)).map((each) => [keyOf(each), each.offset]))
  const due = old
    .map((each) => ({ ...each, offset: offsets.before(each) }))
    .filter((each) => each.offset > (known.get(keyOf(each)) ?? -1n))
  await withAdmin(to, async (admin) => {
    for (const [groupId, own] of Map.groupBy(due, ({ group }) => group)) {
      const topics = [...Map.groupBy(own, ({ topic }) => topic)].map(([name, partitions]) => ({
        name,
        partitionOffsets: partitions.map(({ partition, offset }) => ({ partition, offset })),
      }))
      await admin.alterConsumerGroupOffsets({ groupId, topics })
    }
  })
}

interface Committed {
  group: string
  topic: string
  partition: number
  offset: bigint
}

const keyOf = ({ group, topic, partition }: Committed) => `${group} ${topic}/${partition}`

async function committed(kafka: KafkaConnection, groups: string[]): Promise<Committed[]> {
  const found = await withAdmin(kafka, (admin) => admin.listConsumerGroupOffsets({ groups }))
  return found.flatMap(({ groupId: group, topics }) =>
    topics.flatMap(({ name: topic, partitions }) =>
      partitions
        // Kafka returns -1 for a partition without a committed offset.
        .filter(({ committedOffset }) => committedOffset >= 0n)
        .map(({ partitionIndex: partition, committedOffset: offset }) => ({ group, topic, partition, offset })),
    ),
  )
}
