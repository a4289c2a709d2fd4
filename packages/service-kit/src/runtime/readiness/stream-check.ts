import { setTimeout as delay } from 'node:timers/promises'
import {
  connectionOf,
  type KafkaConnection,
  mayBeginTransactions,
  metadataOf,
  openAdmin,
  protocolErrors,
  type StreamSettings,
} from '@orderflow/kafka-log'
import type { Admin } from '@platformatic/kafka'

/** Returns the reason why a service cannot use the stream; undefined if it can. The reason contains no secrets, so anyone may see it. */
export type StreamCheck = () => Promise<string | undefined>

export interface StreamAdmin {
  describeGroups(options: { groups: string[] }): Promise<Map<string, { state: string; members: { size: number } }>>
  topicUses(topics: string[]): Promise<ReadonlyMap<string, TopicUse>>
  /** Returns undefined if the broker does not report whether transactions are allowed. */
  mayBeginTransactions(): Promise<boolean | undefined>
  close(): Promise<void>
}

interface StreamCheckOptions {
  /** Receives a warning if Kafka gives the service too many rights. The service is ready in spite of the warning. */
  warn?: (warning: string) => void
  open?: (connection: KafkaConnection) => Promise<StreamAdmin>
}

const transactionsAllowed =
  'Kafka lets this service begin transactions, and perhaps publishers, too. Services would handle the events of aborted transactions. ' +
  'Deny transactional ids: ./orderflow acls prints the rule (docs/publishing.md#transactions)'

/** The longest time that a check takes, because callers wait only a few seconds. */
const deadlineMs = 2_500

/** The times for which a good and a bad result are reused. The time for a bad result is shorter, because its callers wait for a change. */
const readyForMs = 2_000
const missingForMs = 500

/** The retries of a request while the coordinator of a consumer group moves to another broker, or loads its log. */
const patience = { retries: 5, delayMs: 300 }
// `requestTimeout` is longer than `deadlineMs`, so the deadline ends a check of a hanging broker.
const timeouts = { connectTimeout: 1_000, timeout: 1_000, requestTimeout: 3_000 }

async function openStream(connection: KafkaConnection): Promise<StreamAdmin> {
  const admin = await openAdmin(connection, { clientId: 'orderflow-readiness', ...timeouts })
  return {
    describeGroups: (asked) => patiently(() => admin.describeGroups(asked)),
    topicUses: (topics) => topicUses(admin, topics),
    mayBeginTransactions: () => mayBeginTransactions(admin),
    close: () => admin.close(),
  }
}

async function patiently<Answer>(ask: () => Promise<Answer>, retries = patience.retries): Promise<Answer> {
  try {
    return await ask()
  } catch (error) {
    if (retries === 0 || protocolErrors(error).some((name) => name.endsWith('_FAILED'))) throw error
  }
  await delay(patience.delayMs, undefined, { ref: false })
  return patiently(ask, retries - 1)
}

/**
 * Creates the check that the service can use the stream. It asks Kafka, because the sidecar stays healthy if the broker is unreachable or denies
 * access. It checks the rights to all topics. It also checks that the consumer group has members, or is rebalancing because a replica starts.
 *
 * Each check opens a new connection, because the addresses of brokers can change.
 * @param use.group the sidecar's consumer group, whose name is the sidecar's app id (components/kafka.yaml, consumerGroup). Undefined if the service
 * consumes nothing
 */
export function createStreamCheck(
  settings: StreamSettings,
  { group, reads, writes }: { group: string | undefined; reads: readonly string[]; writes: readonly string[] },
  { open = openStream, warn = () => {} }: StreamCheckOptions = {},
): StreamCheck {
  const connection = connectionOf(settings)
  if (!connection) return async () => 'no broker is configured: set Stream__Brokers'
  const checkTransactions = transactionCheck(warn)

  async function ask(): Promise<string | undefined> {
    let admin: StreamAdmin | undefined
    let asked = 'the topics'
    let transactions: Promise<void> | undefined
    try {
      admin = await open(connection as KafkaConnection)
      const uses = await admin.topicUses([...new Set([...reads, ...writes])])
      transactions = checkTransactions(admin)
      const missing = denied(reads, 'read', uses) ?? denied(writes, 'write', uses)
      if (missing || group === undefined) return missing
      asked = `consumer group ${group}`
      return groupMissing(group, await admin.describeGroups({ groups: [group] }))
    } catch (error) {
      return reasonOf(error, asked)
    } finally {
      // The check does not wait until the connection is closed, because this may take as long as the request.
      void Promise.resolve(transactions)
        .then(() => admin?.close())
        .catch(() => {})
    }
  }

  const late = async () => delay(deadlineMs, 'the broker does not answer in time', { ref: false })
  return shared(() => Promise.race([ask(), late()]))
}

/**
 * Creates a check that warns once if this Kafka user may begin a transaction. The check never fails. Each call asks again until the broker has
 * answered.
 */
function transactionCheck(warn: (warning: string) => void): (admin: StreamAdmin) => Promise<void> {
  let isKnown = false
  return async (admin) => {
    if (isKnown) return
    const isAllowed = await admin.mayBeginTransactions().catch(() => undefined)
    if (isKnown || isAllowed === undefined) return
    isKnown = true
    if (isAllowed) warn(transactionsAllowed)
  }
}

/** Returns a check whose concurrent callers share one request. The result is reused for a short time. */
function shared(ask: StreamCheck): StreamCheck {
  let current: Promise<string | undefined> | undefined
  let until = 0
  return () => {
    if (current && performance.now() < until) return current
    until = Number.POSITIVE_INFINITY
    current = ask().then((missing) => {
      until = performance.now() + (missing === undefined ? readyForMs : missingForMs)
      return missing
    })
    return current
  }
}

function denied(topics: readonly string[], use: keyof TopicUse, uses: ReadonlyMap<string, TopicUse>) {
  const topic = topics.find((name) => uses.get(name)?.[use] === false)
  return topic && `this user may not ${use} topic ${topic}`
}

function groupMissing(name: string, groups: Awaited<ReturnType<StreamAdmin['describeGroups']>>): string | undefined {
  const group = groups.get(name)
  const isRebalancing = group?.state === 'PreparingRebalance' || group?.state === 'CompletingRebalance'
  return isRebalancing || group?.members.size ? undefined : `consumer group ${name} has no members: nothing is consumed`
}

/** Returns the reason for an error. Only answers of the broker contain protocol errors. So any other error means that the broker did not answer. */
function reasonOf(error: unknown, asked: string): string {
  const names = protocolErrors(error)
  if (names.includes('GROUP_AUTHORIZATION_FAILED')) return `this user may not describe ${asked}`
  if (names.includes('SASL_AUTHENTICATION_FAILED')) return 'the broker does not accept the user and its password'
  if (names.length === 0) return 'the broker does not answer'
  return `${asked} cannot be described: ${names.at(-1)}`
}

export type TopicUse = Record<'read' | 'write', boolean>

/** The positions of the operations in Kafka's bit field of a user's rights (KIP-430). */
const bits = { read: 3, write: 4 }
/** The value of the bit field if the broker does not report the rights. Brokers before Kafka 2.3 never report them. */
const unsaid = -2147483648
/** The code of Kafka's error TOPIC_AUTHORIZATION_FAILED. */
const notSeen = 29

/** Returns this Kafka user's rights to topics. It leaves out unknown topics, and topics whose rights the broker does not report. */
export async function topicUses(admin: Admin, topics: string[]): Promise<Map<string, TopicUse>> {
  const { topics: answers } = await metadataOf(admin, topics, true)
  const uses = new Map<string, TopicUse>()
  for (const { name, errorCode, topicAuthorizedOperations: operations = unsaid } of answers) {
    const has = (bit: number) => ((operations >> bit) & 1) === 1
    if (errorCode === notSeen) uses.set(name, { read: false, write: false })
    else if (operations !== unsaid) uses.set(name, { read: has(bits.read), write: has(bits.write) })
  }
  return uses
}
