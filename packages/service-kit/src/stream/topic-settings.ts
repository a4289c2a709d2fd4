import { deadLetterTopic } from '@orderflow/envelope'
import type { Admin } from '@platformatic/kafka'
import { type KafkaConnection, metadataOf, protocolErrors } from './kafka.ts'

/** Settings of a topic, by Kafka's names. */
export type TopicSettings = Readonly<Record<string, string>>

/** What the system relies on in a topic of events. */
export const eventSettings: TopicSettings = {
  // Far above any event. A delivery has no limit in bytes but this times its count (app-channel.ts).
  'max.message.bytes': '262144',
  // The limit is for what a broker stores: a compressed batch within it could be of any size once it is delivered.
  'compression.type': 'uncompressed',
  // The broker's clock, so that a span of time means the same whoever published.
  'message.timestamp.type': 'LogAppendTime',
  // The log is the truth that a store is rebuilt from. A broker's own defaults may limit it, or keep one record of each key.
  'retention.ms': '-1',
  'retention.bytes': '-1',
  'cleanup.policy': 'delete',
}

/** What it relies on in a topic of dead letters. */
export const deadLetterSettings: TopicSettings = {
  // A dead letter holds the whole event, and in its headers what is wrong with it and where it was.
  'max.message.bytes': '1048576',
  'retention.ms': '-1',
  'retention.bytes': '-1',
  'cleanup.policy': 'delete',
}

/** Returns what the system relies on in a topic, by its name. */
export const settingsOf = (topic: string): TopicSettings =>
  topic.endsWith(deadLetterTopic('')) ? deadLetterSettings : eventSettings

/** A setting as a broker has it. */
interface Actual {
  name: string
  value?: string | null | undefined
  configSource: number
}

/** Kafka's numbers of a topic among resources, and of a setting that was made for the topic itself. */
const [topicResource, ownSetting] = [2 as const, 1]

/** Kafka's error for a topic that does not exist (UNKNOWN_TOPIC_OR_PARTITION). */
const unknownTopic = 3

/** From so many brokers on, a topic can do with one of them less. */
const cluster = 3

/**
 * Compares topics with what the system relies on (docs/publishing.md#requirements-of-the-log). Returns a line for each difference, with
 * what follows from it and the command that ends it. Changes nothing. Takes the right to describe the topics' settings; without it the
 * only line says so.
 * @param wanted settings by topic; topics that do not exist are left out
 * @throws what the client throws
 */
export async function settingDifferences(
  admin: Admin,
  kafka: KafkaConnection,
  wanted: ReadonlyMap<string, TopicSettings>,
): Promise<string[]> {
  const { topics, brokers } = await metadataOf(admin, [...wanted.keys()])
  const replicasOf = new Map(
    topics.map(({ name, partitions }) => [name, partitions[0]?.replicaNodes.length ?? 0] as const),
  )
  const names = topics.filter(({ errorCode }) => errorCode !== unknownTopic).map(({ name }) => name)
  if (names.length === 0) return []
  const resources = names.map((resourceName) => ({
    resourceType: topicResource,
    resourceName,
    configurationKeys: null,
  }))
  let found: { resourceName: string; configs: Actual[] }[]
  try {
    found = await admin.describeConfigs({ resources })
  } catch (error) {
    if (!protocolErrors(error).includes('TOPIC_AUTHORIZATION_FAILED')) throw error
    return [
      'Kafka does not let this user read the settings of topics, so they are not compared. ./orderflow acls prints the right (DescribeConfigs)',
    ]
  }
  return found.flatMap(({ resourceName: topic, configs }) => {
    const replicas = replicasOf.get(topic) ?? 0
    return [
      ...configDifferences(topic, configs, wanted.get(topic) ?? {}, replicas).map(
        ({ name, is, should, so }) =>
          `topic ${topic}: ${name} is ${is}, should be ${should}: ${so}. Fix: ${alterCommand(kafka, topic, name, should)}`,
      ),
      ...(brokers.length >= cluster && replicas < cluster
        ? [
            `topic ${topic}: it has ${replicas} replicas, should have ${cluster}: its records are gone with ${replicas === 1 ? 'the broker' : 'the brokers'} that has them. Fix: kafka-reassign-partitions.sh, or create the topic again`,
          ]
        : []),
    ]
  })
}

interface Difference {
  name: string
  is: string
  should: string
  so: string
}

function configDifferences(topic: string, configs: Actual[], wanted: TopicSettings, replicas: number): Difference[] {
  const rules: TopicSettings = {
    ...wanted,
    'unclean.leader.election.enable': 'false',
    ...(replicas >= cluster && { 'min.insync.replicas': '2' }),
  }
  return Object.entries(rules).flatMap(([name, should]) => {
    const actual = configs.find((config) => config.name === name)
    const is = actual?.value ?? undefined
    if (actual === undefined || is === undefined || is === should) return []
    const so = consequenceOf(topic, { ...actual, value: is }, should)
    return so === undefined ? [] : [{ name, is, should, so }]
  })
}

/** Returns what follows from another value than the one relied on; undefined where nothing does. */
function consequenceOf(
  topic: string,
  { name, value, configSource }: Actual & { value: string },
  should: string,
): string | undefined {
  const isMore = Number(value) > Number(should)
  switch (name) {
    case 'message.timestamp.type':
      return 'publishers choose the times of records, which lag, FROM= and TO= follow; Trust__SignedSince holds for no such record'
    case 'compression.type':
      return 'a small batch may be of any size once a service reads it'
    case 'max.message.bytes':
      if (settingsOf(topic) === deadLetterSettings)
        return isMore ? undefined : 'a larger dead letter is retried without end'
      return isMore ? 'a delivery may exceed what a service takes' : 'larger events are refused'
    case 'cleanup.policy':
      return 'Kafka keeps one event of each key, and refuses events without one'
    case 'retention.ms':
    case 'retention.bytes':
      // What was set for the topic is a decision (./orderflow retention); what a broker has for all is none.
      return configSource === ownSetting
        ? undefined
        : "the broker's default deletes events, and a rebuild reaches less far"
    case 'min.insync.replicas':
      return isMore ? undefined : 'acknowledged events may be gone with one broker'
    case 'unclean.leader.election.enable':
      return 'acknowledged events may be gone after a failure'
    default:
      return 'the system relies on it'
  }
}

function alterCommand({ bootstrapBrokers, sasl }: KafkaConnection, topic: string, name: string, value: string): string {
  const user = sasl ? ' --command-config admin.properties' : ''
  return `kafka-configs.sh --bootstrap-server ${bootstrapBrokers.join()}${user} --alter --topic ${topic} --add-config ${name}=${value}`
}
