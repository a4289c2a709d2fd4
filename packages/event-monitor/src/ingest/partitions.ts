import { answerOf, type Leader, metadataOf, requestAt } from '@orderflow/service-kit/kafka'
import { type Admin, ProtocolError, type RecordsBatch } from '@platformatic/kafka'
import type { Unreadable } from '../api/events.ts'

// These requests report errors by partition, topic and broker. The client's own methods fail after any single error
// (@platformatic/kafka 2.12.1).

export interface LedPartition {
  topic: string
  topicId: string
  partition: number
  leader: Leader
}

export interface LogMetadata {
  brokers: Leader[]
  controllerId: number
  /** Maps a topic to its number of partitions; 0 if the number is unknown. */
  topics: Map<string, number>
  led: LedPartition[]
  unreadable: Unreadable[]
}

export const partitionKey = ({ topic, partition }: Pick<Unreadable, 'topic' | 'partition'>): string =>
  partition === null ? topic : `${topic}/${partition}`

/** Returns all topics except internal ones. @throws {Error} if no broker answers */
export async function describeLog(admin: Admin): Promise<LogMetadata> {
  const { brokers, controllerId, topics } = await metadataOf(admin, null)
  const described: LogMetadata = { brokers, controllerId, topics: new Map(), led: [], unreadable: [] }
  for (const { name: topic, topicId = topic, errorCode, partitions } of topics) {
    if (!isOwnTopic(topic)) continue
    described.topics.set(topic, partitions.length)
    if (errorCode !== 0) described.unreadable.push({ topic, partition: null, why: whyOf(errorCode) })
    for (const { partitionIndex: partition, leaderId, replicaNodes } of partitions) {
      const leader = brokers.find(({ nodeId }) => nodeId === leaderId)
      if (leader) described.led.push({ topic, topicId, partition, leader })
      else described.unreadable.push({ topic, partition, why: noLeader(replicaNodes) })
    }
  }
  return described
}

const noLeader = (replicas: number[]): string =>
  replicas.length === 1
    ? `it has no leader: start broker ${replicas[0]}, which has its records`
    : `it has no leader: start one of the brokers ${replicas.join(', ')}, which have its records`

export interface Answers<Answer> {
  values: Map<string, Answer>
  unreadable: Unreadable[]
}

export async function offsetsAt(
  admin: Admin,
  partitions: readonly LedPartition[],
  timestamp: bigint,
): Promise<Answers<bigint>> {
  const answers: Answers<bigint> = { values: new Map(), unreadable: [] }
  const byLeader = Map.groupBy(partitions, ({ leader }) => leader.nodeId)
  await Promise.all([...byLeader.values()].map((own) => listOffsets(admin, own, timestamp, answers)))
  return answers
}

interface OffsetsResponse {
  topics: { name: string; partitions: { partitionIndex: number; errorCode: number; offset: bigint }[] }[]
}

async function listOffsets(
  admin: Admin,
  own: LedPartition[],
  timestamp: bigint,
  { values, unreadable }: Answers<bigint>,
): Promise<void> {
  const [{ leader }] = own as [LedPartition]
  const topics = [...Map.groupBy(own, ({ topic }) => topic)].map(([name, of]) => ({
    name,
    partitions: of.map(({ partition }) => ({ partitionIndex: partition, currentLeaderEpoch: -1, timestamp })),
  }))
  try {
    const response = await requestAt<OffsetsResponse>(admin, leader, 'ListOffsets', () => [-1, 0, topics]).catch(
      answerOf<OffsetsResponse>,
    )
    for (const { name: topic, partitions } of response.topics) {
      for (const { partitionIndex: partition, errorCode, offset } of partitions) {
        if (errorCode === 0) values.set(partitionKey({ topic, partition }), offset)
        else unreadable.push({ topic, partition, why: whyOf(errorCode) })
      }
    }
  } catch (error) {
    for (const { topic, partition } of own) unreadable.push({ topic, partition, why: unreachable(leader, error) })
  }
}

/** The most bytes that an answer contains for one partition. The parsed records need several times as much memory. */
const partitionBytes = 256 * 1024
const brokerBytes = 1024 * 1024
/** Longest wait of a broker for a first record. This wait also delays the records of other brokers. */
const maxWaitMs = 100
/** The isolation level that sidecars use, too. It includes records of open and aborted transactions. */
const uncommitted = 0
/** Fetches without a fetch session, because an error would invalidate the epoch of the session (KIP-227). */
const noSession = { id: 0, epoch: -1 }

/** OFFSET_OUT_OF_RANGE: the offset is outside of the log. */
const outOfRange = 1

export interface Fetched {
  batches: RecordsBatch[]
  end: bigint
}

interface FetchResponse {
  errorCode: number
  responses: {
    topicId: string
    partitions: { partitionIndex: number; errorCode: number; highWatermark: bigint; records: RecordsBatch[] | null }[]
  }[]
}

/**
 * Returns the next records of partitions that have the same leader, by `topic/partition`.
 * @throws if the broker does not answer
 */
export async function fetchFrom(
  admin: Admin,
  leader: Leader,
  partitions: readonly (Omit<LedPartition, 'leader'> & { next: number })[],
): Promise<Answers<Fetched> & { isOutOfRange: boolean }> {
  // From version 13, requests have topic ids instead of names.
  const names = new Map(
    partitions.flatMap(({ topic, topicId }) => [[topic, topic] as const, [topicId, topic] as const]),
  )
  const topicsIn = (version: number) =>
    [...Map.groupBy(partitions, ({ topicId }) => topicId)].map(([topicId, own]) => ({
      topicId: version > 12 ? topicId : own[0]?.topic,
      partitions: own.map(({ partition, next }) => ({
        partition,
        fetchOffset: BigInt(next),
        currentLeaderEpoch: -1,
        lastFetchedEpoch: -1,
        partitionMaxBytes: partitionBytes,
      })),
    }))
  const { responses, errorCode } = await requestAt<FetchResponse>(admin, leader, 'Fetch', (version) => [
    ...[maxWaitMs, 1, brokerBytes, uncommitted, noSession.id, noSession.epoch],
    topicsIn(version),
    ...[[], ''],
  ]).catch(answerOf<FetchResponse>)
  if (errorCode !== 0) throw new ProtocolError(errorCode)
  const answers = { values: new Map<string, Fetched>(), unreadable: [] as Unreadable[], isOutOfRange: false }
  for (const { topicId, partitions: own } of responses) {
    const topic = names.get(topicId) ?? topicId
    for (const { partitionIndex: partition, errorCode, highWatermark: end, records } of own) {
      if (errorCode === 0) answers.values.set(partitionKey({ topic, partition }), { batches: records ?? [], end })
      else if (errorCode === outOfRange) answers.isOutOfRange = true
      else answers.unreadable.push({ topic, partition, why: whyOf(errorCode) })
    }
  }
  return answers
}

const whyOf = (errorCode: number): string => {
  const { apiId, message } = new ProtocolError(errorCode) as ProtocolError & { apiId: string }
  return `Kafka answers ${apiId}: ${message}`
}

export const unreachable = ({ nodeId, host, port }: Leader, error: unknown): string =>
  `broker ${nodeId} at ${host}:${port} leads it and does not answer: ${(error as Error).message}`

const isOwnTopic = (topic: string): boolean => !topic.startsWith('__')
