import '@orderflow/envelope/kafka-resets'
import type { Admin, API, Broker, Connection, RecordsBatch } from '@platformatic/kafka'
import type { RecordPosition } from './record.ts'

/** The settings of the connection to Kafka, with Dapr's names and values (components/kafka.yaml). */
export interface StreamSettings {
  /** The addresses of brokers, separated by commas. */
  Brokers: string
  AuthType: 'none' | 'password'
  SaslMechanism: keyof typeof mechanisms
  SaslUsername: string
  SaslPassword: string
  DisableTls: boolean
  /** The CA certificate in PEM; empty for the CAs that the system trusts. */
  CaCert: string
}

export interface KafkaConnection {
  bootstrapBrokers: string[]
  sasl?: { mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'; username: string; password: string }
  tls?: { ca?: string }
}

type Needed = Pick<StreamSettings, 'Brokers'> & ({ AuthType: 'none' } | (StreamSettings & { AuthType: 'password' }))

/** Maps Dapr's names of SASL mechanisms (components/kafka.yaml) to the standard names. */
const mechanisms = { PLAINTEXT: 'PLAIN', 'SHA-256': 'SCRAM-SHA-256', 'SHA-512': 'SCRAM-SHA-512' } as const

export function isSaslMechanism(name: string): name is keyof typeof mechanisms {
  return Object.hasOwn(mechanisms, name)
}

/** Returns the connection that the settings describe; undefined if they name no broker. */
export function connectionOf(stream: Needed): KafkaConnection | undefined {
  const bootstrapBrokers = stream.Brokers.split(',').filter(Boolean)
  if (bootstrapBrokers.length === 0) return undefined
  if (stream.AuthType === 'none') return { bootstrapBrokers }
  const { SaslUsername: username, SaslPassword: password } = stream
  const sasl = { mechanism: mechanisms[stream.SaslMechanism], username, password }
  if (stream.DisableTls) return { bootstrapBrokers, sasl }
  return { bootstrapBrokers, sasl, tls: stream.CaCert ? { ca: stream.CaCert } : {} }
}

/**
 * Sends a request of Kafka's protocol for which the client has no method. It uses the newest version that the client and the broker both know.
 * @param name the request's name in Kafka's protocol, such as `DescribeUserScramCredentials`
 * @param fields the parameters of the client's `createRequest`
 * @throws errors of the Kafka client. If the broker answered, the error has the answer in `response`
 */
export async function requestOf<Response>(admin: Admin, name: string, ...fields: unknown[]): Promise<Response> {
  const kafka = await import('@platformatic/kafka')
  const api = await promised<API<unknown[], Response>>((done) => admin[kafka.kGetApi](name, done))
  const connection = await promised<Connection>((done) => admin[kafka.kGetBootstrapConnection](done))
  return await api.async(connection, ...fields)
}

/**
 * Sends a request that only one broker can answer, such as the leader of a partition.
 * @param fieldsIn returns the parameters of the client's `createRequest` for a version of the request
 */
export async function requestAt<Response>(
  admin: Admin,
  broker: Broker,
  name: string,
  fieldsIn: (version: number) => unknown[],
): Promise<Response> {
  const kafka = await import('@platformatic/kafka')
  const api = await promised<API<unknown[], Response>>((done) => admin[kafka.kGetApi](name, done))
  const connection = await promised<Connection>((done) => admin[kafka.kGetConnection](broker, done))
  // biome-ignore lint/plugin/no-spread-arguments: a request of the protocol has a dozen fields
  return await api.async(connection, ...fieldsIn(api.version))
}

/**
 * Returns the broker's answer from an error of the Kafka client. The client throws such an error if a request fails for some topics or partitions.
 * @throws the same error, if it contains no answer
 */
export function answerOf<Response>(error: Error & { response?: Response }): Response {
  if (error.response) return error.response
  throw error
}

function promised<Answer>(call: (done: (error: Error | null, answer?: Answer) => void) => void): Promise<Answer> {
  return new Promise((resolve, reject) => {
    call((error, answer) => (error ? reject(error) : resolve(answer as Answer)))
  })
}

/** Returns the names of all protocol errors in an error, because the client nests errors in lists and causes. */
export function protocolErrors(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const { apiId, errors = [], cause } = error as { apiId?: string; errors?: unknown[]; cause?: unknown }
  return [...(apiId ? [apiId] : []), ...errors.flatMap(protocolErrors), ...protocolErrors(cause)]
}

export interface Leader extends Broker {
  nodeId: number
}

/** The metadata of a cluster. An `errorCode` of 0 means success. */
export interface Metadata {
  brokers: Leader[]
  controllerId: number
  topics: {
    name: string
    /** The topic's id; missing on brokers before Kafka 2.8. */
    topicId?: string
    errorCode: number
    /** The bit field of this user's rights (KIP-430), if it was asked for. */
    topicAuthorizedOperations?: number
    partitions: {
      partitionIndex: number
      errorCode: number
      leaderId: number
      replicaNodes: number[]
      /** The replicas that have all acknowledged records. */
      isrNodes: number[]
    }[]
  }[]
}

/**
 * Returns the metadata of topics; null means all topics. If a topic has an error, the other topics are still returned. The client's `metadata` and
 * `listTopics` would fail in this case (@platformatic/kafka 2.12.1).
 * @param rights true to ask for this user's rights to the topics
 * @throws the client's error if no broker answers
 */
export async function metadataOf(admin: Admin, topics: readonly string[] | null, rights = false): Promise<Metadata> {
  return await requestOf<Metadata>(admin, 'Metadata', topics, false, rights).catch(answerOf<Metadata>)
}

/** A partition, as in the positions of records. */
export type Partition = Pick<RecordPosition, 'topic' | 'partition'>

/** Returns the leader of a partition, and the topic's id. @throws {Error} if the partition has no leader */
function leaderOf({ brokers, topics }: Metadata, { topic, partition }: Partition): { leader: Leader; topicId: string } {
  const { topicId = '', partitions = [] } = topics.find(({ name }) => name === topic) ?? {}
  const leaderId = partitions.find(({ partitionIndex }) => partitionIndex === partition)?.leaderId
  const leader = brokers.find(({ nodeId }) => nodeId === leaderId)
  if (!leader) throw new Error(`partition ${topic}/${partition} has no leader`)
  return { leader, topicId }
}

/** A request to read at most `bytes` bytes from a position. If the first batch is larger, the broker still returns it (KIP-74). */
export interface Fetch extends Partition {
  offset: bigint
  bytes: number
}

/** Disables fetch sessions (KIP-227). With sessions, each reader would need its own client. */
const noSession = { id: 0, epoch: -1 }
/** The isolation level of the sidecars, which also read the records of open and aborted transactions. */
const uncommitted = 0

/**
 * Returns the next batches of a partition: at least one batch, if one exists. Returns 'out-of-range' if the partition does not have the offset. The
 * Kafka user needs the right to read the topic.
 * @param metadata the metadata of the topic
 * @throws {Error} if the partition has no leader
 */
export async function fetchBatches(
  admin: Admin,
  metadata: Metadata,
  { topic, partition, offset, bytes }: Fetch,
): Promise<RecordsBatch[] | 'out-of-range'> {
  const { leader, topicId } = leaderOf(metadata, { topic, partition })
  const { findErrorBy } = await import('@platformatic/kafka')
  const asked = {
    partition,
    fetchOffset: offset,
    currentLeaderEpoch: -1,
    lastFetchedEpoch: -1,
    partitionMaxBytes: bytes,
  }
  try {
    const { responses } = await requestAt<FetchResponse>(admin, leader, 'Fetch', (version) => [
      ...[0, 1, bytes, uncommitted, noSession.id, noSession.epoch],
      // The request names a topic by its name up to version 12, and by its id in later versions.
      [{ topicId: version > 12 ? topicId : topic, partitions: [asked] }],
      ...[[], ''],
    ])
    return responses.flatMap(({ partitions }) => partitions.flatMap(({ records }) => records ?? []))
  } catch (error) {
    if (findErrorBy(error as Error, 'apiId', 'OFFSET_OUT_OF_RANGE')) return 'out-of-range'
    throw error
  }
}

interface FetchResponse {
  responses: { partitions: { records: RecordsBatch[] | null }[] }[]
}

// Kafka's timestamps for the two ends of a partition.
export const earliest = -2n
export const latest = -1n

/**
 * Returns an offset of each partition: that of an end of the partition, or of the first record at a time. Kafka answers -1 if all records are earlier
 * than the given time.
 */
export async function offsetsAt(admin: Admin, partitions: readonly Partition[], timestamp: bigint): Promise<bigint[]> {
  if (partitions.length === 0) return []
  const topics = [...Map.groupBy(partitions, ({ topic }) => topic)].map(([name, own]) => ({
    name,
    partitions: own.map(({ partition: partitionIndex }) => ({ partitionIndex, timestamp })),
  }))
  const answers = (await admin.listOffsets({ topics })).flatMap(({ name, partitions: own }) =>
    own.map(({ partitionIndex, offset }) => [`${name}/${partitionIndex}`, offset] as const),
  )
  const found = new Map(answers)
  return partitions.map(({ topic, partition }) => found.get(`${topic}/${partition}`) ?? 0n)
}

/** An invalid time-out of a transaction. Kafka first checks the user's rights, and then refuses this value, so no transaction begins. */
const invalidTimeoutMs = 0

/**
 * Returns true if Kafka lets this user begin a transaction; undefined if the answer is unclear.
 * @throws the client's error if no broker answers
 */
export async function mayBeginTransactions(admin: Admin): Promise<boolean | undefined> {
  const [transactionalId, producerId, epoch] = ['orderflow-may-i', -1n, -1]
  try {
    await requestOf(admin, 'InitProducerId', transactionalId, invalidTimeoutMs, producerId, epoch)
  } catch (error) {
    const names = protocolErrors(error)
    if (names.includes('TRANSACTIONAL_ID_AUTHORIZATION_FAILED')) return false
    if (names.includes('INVALID_TRANSACTION_TIMEOUT')) return true
    if (names.length === 0) throw error
  }
  return undefined
}

export { createSharedConnection } from './shared-connection.ts'
