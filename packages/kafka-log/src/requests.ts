import type { Admin, API, Broker, Connection } from '@platformatic/kafka'
import { protocolErrors } from './errors.ts'

/**
 * Sends a request of Kafka's protocol for which the client has no method. It uses the newest version that the client and the broker both know.
 * @param name the request's name in Kafka's protocol, such as `DescribeUserScramCredentials`
 * @param fields the parameters of the client's `createRequest`
 * @throws errors of the Kafka client. If the broker answered, the error has the answer in `response`
 */
export async function requestOf<Response>(admin: Admin, name: string, ...fields: unknown[]): Promise<Response> {
  return await requestAt(admin, undefined, name, () => fields)
}

/**
 * Sends a request that only one broker can answer, such as the leader of a partition.
 * @param broker undefined for any broker
 * @param fieldsIn returns the parameters of the client's `createRequest` for a version of the request
 */
export async function requestAt<Response>(
  admin: Admin,
  broker: Broker | undefined,
  name: string,
  fieldsIn: (version: number) => unknown[],
): Promise<Response> {
  const kafka = await import('@platformatic/kafka')
  const api = await promised<API<unknown[], Response>>((done) => admin[kafka.kGetApi](name, done))
  const connection = await promised<Connection>((done) =>
    broker ? admin[kafka.kGetConnection](broker, done) : admin[kafka.kGetBootstrapConnection](done),
  )
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
