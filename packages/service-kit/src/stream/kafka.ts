import '@orderflow/envelope/kafka-resets'
import type { Admin, API, Broker, Connection, RecordsBatch } from '@platformatic/kafka'
import type { RecordPosition } from './record.ts'

/** The settings of the connection to Kafka, with Dapr's names and values (components/kafka.yaml). */
export interface StreamSettings {
  /** Separated by commas. */
  Brokers: string
  AuthType: 'none' | 'password'
  SaslMechanism: keyof typeof mechanisms
  SaslUsername: string
  SaslPassword: string
  DisableTls: boolean
  /** PEM; empty for the authorities that the system trusts. */
  CaCert: string
}

export interface KafkaConnection {
  bootstrapBrokers: string[]
  sasl?: { mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'; username: string; password: string }
  tls?: { ca?: string }
}

type Needed = Pick<StreamSettings, 'Brokers'> & ({ AuthType: 'none' } | (StreamSettings & { AuthType: 'password' }))

/** The standard names of the SASL mechanisms, by Dapr's names (components/kafka.yaml). */
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
 * @param name as in Kafka's list of requests, such as `DescribeUserScramCredentials`
 * @param fields the parameters of the client's `createRequest`
 * @throws the client's errors. If the broker answers with an error, the thrown error has the answer in `response`
 */
export async function requestOf<Response>(admin: Admin, name: string, ...fields: unknown[]): Promise<Response> {
  const kafka = await import('@platformatic/kafka')
  const api = await promised<API<unknown[], Response>>((done) => admin[kafka.kGetApi](name, done))
  const connection = await promised<Connection>((done) => admin[kafka.kGetBootstrapConnection](done))
  return await api.async(connection, ...fields)
}

/**
 * Sends a request that only one broker can answer, such as the leader of a partition.
 * @param fieldsIn returns the parameters of the client's `createRequest` for a version
 * @throws as `requestOf`
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
 * Returns the answer to a request that failed for some topics or partitions. The client throws it as an error, which is the parameter.
 * @throws the error, if it contains no answer
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

/** Returns the names of all protocol errors in an error, because the client nests them in lists and causes. */
export function protocolErrors(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const { apiId, errors = [], cause } = error as { apiId?: string; errors?: unknown[]; cause?: unknown }
  return [...(apiId ? [apiId] : []), ...errors.flatMap(protocolErrors), ...protocolErrors(cause)]
}

export interface Leader extends Broker {
  nodeId: number
}

/** `errorCode` is 0 without an error. */
export interface Metadata {
  brokers: Leader[]
  controllerId: number
  topics: {
    name: string
    /** Missing on brokers before Kafka 2.8. */
    topicId?: string
    errorCode: number
    partitions: { partitionIndex: number; errorCode: number; leaderId: number; replicaNodes: number[] }[]
  }[]
}

/**
 * Returns the metadata of topics, or of all topics for null. If one topic has an error, the metadata of the others are returned nevertheless, unlike
 * by the client's `metadata` and `listTopics` (@platformatic/kafka 2.12.1).
 * @throws the client's error if no broker answers
 */
export async function metadataOf(admin: Admin, topics: readonly string[] | null): Promise<Metadata> {
  return await requestOf<Metadata>(admin, 'Metadata', topics, false, false).catch(answerOf<Metadata>)
}

/** Returns the broker that leads a partition, and its topic's id. @throws {Error} if it has no leader */
export function leaderOf(
  { brokers, topics }: Metadata,
  { topic, partition }: Pick<RecordPosition, 'topic' | 'partition'>,
): { leader: Leader; topicId: string } {
  const { topicId = '', partitions = [] } = topics.find(({ name }) => name === topic) ?? {}
  const leaderId = partitions.find(({ partitionIndex }) => partitionIndex === partition)?.leaderId
  const leader = brokers.find(({ nodeId }) => nodeId === leaderId)
  if (!leader) throw new Error(`partition ${topic}/${partition} has no leader`)
  return { leader, topicId }
}

/** The position to read from, and the number of bytes to read. The broker returns a larger batch whole (KIP-74). */
export interface Fetch {
  topic: string
  topicId: string
  partition: number
  offset: bigint
  bytes: number
}

/** Disables fetch sessions (KIP-227). With sessions, each reader would need its own client. */
const noSession = { id: 0, epoch: -1 }
/** The isolation level of the sidecars, which read the records of open and aborted transactions, too. */
const uncommitted = 0

/**
 * Returns the next batches of a partition: at least one, if there are any. Returns 'out-of-range' if the partition does not have the offset. The
 * Kafka user needs the right to read the topic.
 * @throws the client's errors
 */
export async function fetchBatches(
  admin: Admin,
  leader: Broker,
  { topic, topicId, partition, offset, bytes }: Fetch,
): Promise<RecordsBatch[] | 'out-of-range'> {
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

/** An invalid time-out of a transaction. Kafka refuses it only after it has checked the user's rights. */
const invalidTimeoutMs = 0

/**
 * Returns true if Kafka lets this user begin a transaction; undefined if the answer is unclear. The request has an invalid time-out, so it has no
 * effect.
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
