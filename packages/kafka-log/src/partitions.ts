import type { Admin, RecordsBatch } from '@platformatic/kafka'
import { LogError } from './errors.ts'
import { type LogRecord, type RecordPosition, recordsOf } from './record.ts'
import { answerOf, type Leader, metadataOf, requestAt } from './requests.ts'

// These requests report errors by partition, topic and broker. The client's own methods fail after any single error
// (@platformatic/kafka 2.12.1).

export type Partition = Pick<RecordPosition, 'topic' | 'partition'>

/** A partition with the broker that answers requests for its records. */
export interface LedPartition extends Partition {
  /** Changes if the topic is created again. */
  topicId: string
  leader: Leader
}

export interface Unreadable {
  topic: string
  /** Null for a whole topic. */
  partition: number | null
  /** The reason, with the operator's next step if the reason shows it. */
  why: string
  cause?: unknown
}

export const partitionKey = ({ topic, partition }: Pick<Unreadable, 'topic' | 'partition'>): string =>
  partition === null ? topic : `${topic}/${partition}`

export interface Partitions {
  brokers: Leader[]
  controllerId: number
  /** Maps a topic to its number of partitions; 0 if the number is unknown. */
  topics: Map<string, number>
  led: LedPartition[]
  unreadable: Unreadable[]
}

/**
 * Returns the partitions of topics, in sequence.
 * @param asked null for all topics except internal ones
 * @throws the client's error if no broker answers
 */
export async function partitionsOf(admin: Admin, asked: readonly string[] | null): Promise<Partitions> {
  const { brokers, controllerId, topics } = await metadataOf(admin, asked)
  const found: Partitions = { brokers, controllerId, topics: new Map(), led: [], unreadable: [] }
  for (const { name: topic, topicId = topic, errorCode, partitions } of topics) {
    if (!asked && topic.startsWith('__')) continue
    found.topics.set(topic, partitions.length)
    if (errorCode !== 0) found.unreadable.push({ topic, partition: null, ...(await refusal(errorCode)) })
    for (const { partitionIndex: partition, leaderId, replicaNodes } of partitions.toSorted(
      (one, other) => one.partitionIndex - other.partitionIndex,
    )) {
      const leader = brokers.find(({ nodeId }) => nodeId === leaderId)
      if (leader) found.led.push({ topic, topicId, partition, leader })
      else found.unreadable.push({ topic, partition, why: noLeader(replicaNodes) })
    }
  }
  return found
}

const noLeader = (replicas: number[]): string =>
  replicas.length === 1
    ? `it has no leader: start broker ${replicas[0]}, which has its records`
    : `it has no leader: start one of the brokers ${replicas.join(', ')}, which have its records`

async function refusal(errorCode: number): Promise<Pick<Unreadable, 'why' | 'cause'>> {
  const { ProtocolError } = await import('@platformatic/kafka')
  const cause = new ProtocolError(errorCode)
  const { apiId, message } = cause as typeof cause & { apiId: string }
  const nextStep = apiId.endsWith('AUTHORIZATION_FAILED')
    ? '. Give this user the right: ./orderflow acls prints it'
    : ''
  return { why: `Kafka answers ${apiId}: ${message}${nextStep}`, cause }
}

/** The answers by `topic/partition`. */
export interface Answers<Answer> {
  values: Map<string, Answer>
  unreadable: Unreadable[]
}

/** Returns its argument. @throws {LogError} if a topic or partition is unreadable */
export function requireReadable<T extends { unreadable: readonly Unreadable[] }>(answers: T): T {
  const [first] = answers.unreadable
  if (first) throw new LogError(`${partitionKey(first)} is unreadable: ${first.why}`, { cause: first.cause })
  return answers
}

type PartitionAnswer<Answer> = Partition & { errorCode: number; value: Answer }

/** Asks the leaders of partitions at the same time. */
async function askLeaders<P extends LedPartition, Answer>(
  asked: readonly P[],
  ask: (leader: Leader, own: P[]) => Promise<PartitionAnswer<Answer>[]>,
): Promise<Answers<Answer>> {
  const answers: Answers<Answer> = { values: new Map(), unreadable: [] }
  const byLeader = Map.groupBy(asked, ({ leader }) => leader.nodeId)
  await Promise.all(
    [...byLeader.values()].map(async (own) => {
      const { leader } = own[0] as P
      try {
        for (const { topic, partition, errorCode, value } of await ask(leader, own)) {
          if (errorCode === 0) answers.values.set(partitionKey({ topic, partition }), value)
          else answers.unreadable.push({ topic, partition, ...(await refusal(errorCode)) })
        }
      } catch (cause) {
        const why = `broker ${leader.nodeId} at ${leader.host}:${leader.port} leads it and does not answer: ${(cause as Error).message}`
        for (const { topic, partition } of own) answers.unreadable.push({ topic, partition, why, cause })
      }
    }),
  )
  return answers
}

// Kafka's timestamps for the two ends of a partition.
export const earliest = -2n
export const latest = -1n

interface OffsetsResponse {
  topics: { name: string; partitions: { partitionIndex: number; errorCode: number; offset: bigint }[] }[]
}

/**
 * Returns an offset of each partition: an end of the partition, or the first record at or after a time in milliseconds since 1970. Kafka answers -1 if
 * all records are earlier.
 */
export async function offsetsAt<P extends LedPartition>(
  admin: Admin,
  asked: readonly P[],
  timestampOf: (partition: P) => bigint,
): Promise<Answers<bigint>> {
  return await askLeaders(asked, async (leader, own) => {
    const topics = [...Map.groupBy(own, ({ topic }) => topic)].map(([name, of]) => ({
      name,
      partitions: of.map((each) => ({
        partitionIndex: each.partition,
        currentLeaderEpoch: -1,
        timestamp: timestampOf(each),
      })),
    }))
    const response = await requestAt<OffsetsResponse>(admin, leader, 'ListOffsets', () => [
      -1,
      uncommitted,
      topics,
    ]).catch(answerOf<OffsetsResponse>)
    return response.topics.flatMap(({ name: topic, partitions }) =>
      partitions.map(({ partitionIndex: partition, errorCode, offset: value }) => ({
        topic,
        partition,
        errorCode,
        value,
      })),
    )
  })
}

/** The isolation level of the sidecars, which also read the records of open and aborted transactions. */
const uncommitted = 0
/** Disables fetch sessions (KIP-227). With sessions, each reader would need its own client, and an error would invalidate the session. */
const noSession = [0, -1]
/** The code of Kafka's error OFFSET_OUT_OF_RANGE. */
const outOfRange = 1

export interface Fetched {
  /** The records from the asked offset on. */
  records: LogRecord[]
  /** The offset after these records, and after offsets without a record, such as a transaction's marker. */
  next: bigint
  /** The offset of the next new record. */
  end: bigint
  /** The bytes of the stored batches. */
  bytes: number
  /** True if the partition does not have the asked offset. */
  isOutOfRange: boolean
}

interface FetchResponse {
  errorCode: number
  responses: {
    topicId: string
    partitions: { partitionIndex: number; errorCode: number; highWatermark: bigint; records: RecordsBatch[] | null }[]
  }[]
}

/**
 * Returns the next records of partitions: at least one batch of one partition, if one exists. Requires the right to read the topics.
 * @param bytes the most bytes of a partition; a broker answers for four full partitions at most. It still returns a first batch that is larger (KIP-74)
 * @param waitMs the longest wait of a broker for a first record
 */
export async function fetchFrom(
  admin: Admin,
  asked: readonly (LedPartition & { next: bigint })[],
  { bytes, waitMs = 0 }: { bytes: number; waitMs?: number },
): Promise<Answers<Fetched>> {
  const { ProtocolError } = await import('@platformatic/kafka')
  return await askLeaders(asked, async (leader, own) => {
    // The request names a topic by its name up to version 12, and by its id in later versions. So does the answer.
    const topics = [...Map.groupBy(own, ({ topic }) => topic).values()]
    const topicOf = new Map(own.flatMap(({ topic, topicId }) => [[topic, topic] as const, [topicId, topic] as const]))
    const offsets = new Map(own.map((each) => [partitionKey(each), each.next]))
    const { responses, errorCode } = await requestAt<FetchResponse>(admin, leader, 'Fetch', (version) => [
      ...[waitMs, 1, 4 * bytes, uncommitted, ...noSession],
      topics.map((of) => ({
        topicId: version > 12 ? of[0]?.topicId : of[0]?.topic,
        partitions: of.map(({ partition, next }) => ({
          partition,
          fetchOffset: next,
          currentLeaderEpoch: -1,
          lastFetchedEpoch: -1,
          partitionMaxBytes: bytes,
        })),
      })),
      ...[[], ''],
    ]).catch(answerOf<FetchResponse>)
    if (errorCode !== 0) throw new ProtocolError(errorCode)
    return responses.flatMap(({ topicId, partitions }) =>
      partitions.map(({ partitionIndex: partition, errorCode, highWatermark: end, records }) => {
        const own = { topic: topicOf.get(topicId) ?? topicId, partition }
        const isOutOfRange = errorCode === outOfRange
        const read = readBatches(own, offsets.get(partitionKey(own)) ?? 0n, records ?? [])
        return { ...own, errorCode: isOutOfRange ? 0 : errorCode, value: { ...read, end, isOutOfRange } }
      }),
    )
  })
}

function readBatches({ topic, partition }: Partition, from: bigint, batches: RecordsBatch[]) {
  const records = batches.flatMap((batch) => recordsOf(topic, partition, batch)).filter(({ offset }) => offset >= from)
  const last = batches.at(-1)
  const next = last ? last.firstOffset + BigInt(last.lastOffsetDelta) + 1n : from
  return { records, next: next > from ? next : from, bytes: batches.reduce((sum, { length }) => sum + length, 0) }
}
