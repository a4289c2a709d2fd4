import { deadLetterTopic } from '@orderflow/envelope'
import { metadataOf, protocolErrors } from '@orderflow/kafka-log'
import type { Admin } from '@platformatic/kafka'

export type TopicSettings = Readonly<Record<string, string>>

export const eventSettings: TopicSettings = {
  // Far above the size of any event. Services handle a delivery in parts of at least one record, so this value also limits their memory
  // (delivery-body.ts).
  'max.message.bytes': '262144',
  // Kafka applies `max.message.bytes` to the stored bytes, so a compressed batch could have any size when it is delivered.
  'compression.type': 'uncompressed',
  // The broker's clock sets the times, so that times are comparable across publishers.
  'message.timestamp.type': 'LogAppendTime',
  // Stores are rebuilt from the log, so the log must be complete. With a broker's default, Kafka may delete old events.
  'retention.ms': '-1',
  'retention.bytes': '-1',
  'cleanup.policy': 'delete',
}

export const deadLetterSettings: TopicSettings = {
  // A dead letter holds a whole event, and its headers add the fault and the position.
  'max.message.bytes': '1048576',
  'retention.ms': '-1',
  'retention.bytes': '-1',
  'cleanup.policy': 'delete',
}

/**
 * The topic of small records without content, whose times of arrival show the time of the log (log/log-clock.ts). Readers of all topics leave out this
 * name, as they leave out Kafka's own topics.
 */
export const clockTopic = '__clock'

/** Only the newest record matters. Kafka deletes only whole segments, so a segment is short, too. */
export const clockSettings: TopicSettings = { ...eventSettings, 'retention.ms': '3600000', 'segment.ms': '3600000' }

export function settingsOf(topic: string): TopicSettings {
  if (topic === clockTopic) return clockSettings
  return topic.endsWith(deadLetterTopic('')) ? deadLetterSettings : eventSettings
}

interface Actual {
  name: string
  value?: string | null | undefined
  configSource: number
}

/** Kafka's number for the resource type “topic”. */
export const topicResource = 2 as const

/** Returns the retention of topics in milliseconds; negative without a limit. */
export async function retentionOf(admin: Admin, topics: readonly string[]): Promise<Map<string, number>> {
  const asked = { resourceType: topicResource, configurationKeys: ['retention.ms'] }
  const found = await admin.describeConfigs({ resources: topics.map((resourceName) => ({ ...asked, resourceName })) })
  return new Map(found.map(({ resourceName, configs }) => [resourceName, Number(configs[0]?.value)]))
}

/** Kafka's number for the source of a setting on the topic itself. */
const ownSetting = 1

/** The code of Kafka's error UNKNOWN_TOPIC_OR_PARTITION. */
const unknownTopic = 3

/** The smallest number of brokers with which a topic survives the loss of one broker. */
const cluster = 3

/** Returns the line about a topic that does not exist, with the consequence and the fix. */
export function missingTopic(topic: string): string {
  const suffix = deadLetterTopic('')
  const so = topic.endsWith(suffix)
    ? `a partition of ${topic.slice(0, -suffix.length)} waits at its first invalid event`
    : 'its events are neither published nor consumed'
  return `topic ${topic} does not exist: ${so}. Fix: make up, or create the topic in your own Kafka`
}

/**
 * Compares topics with the required settings (docs/publishing.md#requirements-of-the-log). Returns a line for each difference and each missing topic,
 * with its consequence and the command that fixes it. If the user may not read the settings, it returns one line that names the missing right.
 * @param wanted the required settings by topic
 */
export async function settingDifferences(admin: Admin, wanted: ReadonlyMap<string, TopicSettings>): Promise<string[]> {
  const { topics, brokers } = await metadataOf(admin, [...wanted.keys()])
  const replicasOf = new Map(topics.map(({ name, partitions: [first] }) => [name, first?.replicaNodes.length ?? 0]))
  const missing = topics.filter(({ errorCode }) => errorCode === unknownTopic).map(({ name }) => missingTopic(name))
  const present = topics.filter(({ errorCode }) => errorCode !== unknownTopic)
  if (present.length === 0) return missing
  const asked = { resourceType: topicResource, configurationKeys: null }
  const resources = present.map(({ name: resourceName }) => ({ ...asked, resourceName }))
  let found: { resourceName: string; configs: Actual[] }[]
  try {
    found = await admin.describeConfigs({ resources })
  } catch (error) {
    if (!protocolErrors(error).includes('TOPIC_AUTHORIZATION_FAILED')) throw error
    return [
      ...missing,
      'Kafka does not let this user read the settings of topics, so they are not compared. ./orderflow acls prints the right (DescribeConfigs)',
    ]
  }
  const differences = found.flatMap(({ resourceName: topic, configs }) => {
    const replicas = replicasOf.get(topic) ?? 0
    const lines = [...configDifferences(topic, configs, wanted.get(topic) ?? {}, replicas)]
    if (brokers.length >= cluster && replicas < cluster)
      lines.push(
        `topic ${topic}: it has ${replicas} replicas, should have ${cluster}: its records are gone with ${replicas === 1 ? 'the broker' : 'the brokers'} that has them. Fix: Kafka’s program kafka-reassign-partitions, or create the topic again`,
      )
    return lines
  })
  return [...missing, ...differences]
}

function* configDifferences(topic: string, configs: Actual[], wanted: TopicSettings, replicas: number) {
  const rules: TopicSettings = {
    ...wanted,
    'unclean.leader.election.enable': 'false',
    ...(replicas >= cluster && { 'min.insync.replicas': '2' }),
  }
  for (const [name, should] of Object.entries(rules)) {
    const actual = configs.find((config) => config.name === name)
    const is = actual?.value ?? undefined
    if (actual === undefined || is === undefined || is === should) continue
    const so = consequenceOf(topic, { ...actual, value: is }, should)
    if (so !== undefined)
      yield `topic ${topic}: ${name} is ${is}, should be ${should}: ${so}. Fix: ./orderflow topic-setting ${topic} ${name}=${should}`
  }
}

/** Returns the consequence of a different value; undefined if the value does no harm. */
function consequenceOf(topic: string, { name, value, configSource }: Actual & { value: string }, should: string) {
  const isMore = Number(value) > Number(should)
  switch (name) {
    case 'message.timestamp.type':
      return 'publishers choose the times of records, which affects lag, FROM= and TO=; Trust__SignedSince ignores such records'
    case 'compression.type':
      return 'a small batch may be of any size once a service reads it'
    case 'max.message.bytes':
      if (settingsOf(topic) === deadLetterSettings)
        return isMore ? undefined : 'a larger dead letter is retried without end'
      return isMore ? 'a delivery may exceed the limit of a service' : 'larger events are refused'
    case 'cleanup.policy':
      return 'Kafka keeps one event of each key, and refuses events without one'
    case 'retention.ms':
    case 'retention.bytes':
      // A retention that was set on the topic itself is intended (`./orderflow retention`). A broker's default may be unintended.
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
