import { setTimeout as delay } from 'node:timers/promises'
import type { AdminOptions } from '@platformatic/kafka'
import { connectionOf, type KafkaConnection, type StreamSettings } from '../stream/kafka-connection.ts'
import { protocolErrors } from '../stream/kafka-request.ts'
import { mayBeginTransactions } from '../stream/kafka-transactions.ts'
import { type TopicUse, topicUses } from './topic-uses.ts'

/** What keeps a service from its stream, in words that may be public; undefined when nothing does. */
export type StreamCheck = () => Promise<string | undefined>

/** What a service does at the stream. */
export interface StreamUse {
  /** The consumer group of its sidecar: its app id (components/kafka.yaml, consumerGroup); undefined when it consumes nothing. */
  group: string | undefined
  reads: readonly string[]
  writes: readonly string[]
}

/** What is asked of Kafka. */
export interface StreamAdmin {
  describeGroups(options: { groups: string[] }): Promise<Map<string, { state: string; members: { size: number } }>>
  /** What this user may do with topics, as far as the broker says so; also how to ask whether it answers. */
  topicUses(topics: string[]): Promise<ReadonlyMap<string, TopicUse>>
  /** Whether this user may begin a transaction, as far as the broker says so. */
  mayBeginTransactions(): Promise<boolean | undefined>
  close(): Promise<void>
}

export interface StreamCheckOptions {
  /** Receives a warning when Kafka allows too much. The service is ready all the same. */
  warn?: (warning: string) => void
  /** Opens a connection; a test passes its own. */
  open?: (connection: KafkaConnection) => Promise<StreamAdmin>
}

const transactionsAllowed =
  'Kafka lets this service begin transactions, so it may let publishers too: services handle the events of an aborted transaction. ' +
  'Deny transactional ids: ./orderflow acls prints the rule (docs/publishing.md#transactions)'

/** Whoever asks whether a service is ready waits for a few seconds only. */
const deadlineMs = 2_500

/**
 * How long an answer holds for others who ask. A good one must not cost a connection each time; a bad one is what somebody waits to
 * see change.
 */
const readyForMs = 2_000
const missingForMs = 500

/** A group's coordinator moves, or loads its log, within this: no reason yet. */
const patience = { retries: 5, delayMs: 300 }
// Longer than `deadlineMs`, which tells it: a broker that hangs has taken the connection.
const timeouts = { connectTimeout: 1_000, timeout: 1_000, requestTimeout: 3_000 }

/** Loaded when first asked for: its modules take 55 MB and most of a second, which a start and its tests can do without. */
async function openAdmin(connection: KafkaConnection): Promise<StreamAdmin> {
  const { Admin } = await import('@platformatic/kafka')
  const options: AdminOptions & { requestTimeout: number } = {
    clientId: 'orderflow-readiness',
    ...connection,
    ...timeouts,
    // It would try again what no time changes, such as a wrong password, and whoever asks would not hear of it in time.
    retries: 0,
  }
  const admin = new Admin(options)
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
 * Whether the service can use the stream: its sidecar's health stays green when the broker is away and when its group or a topic is
 * denied, so Kafka itself is asked. Whether the group consumes: it may be described and has members. A rebalance is no reason, since all
 * replicas are in it whenever one of them starts. And whether the topics may be read and written that the service reads and writes.
 *
 * Each question has a connection of its own: one that stays open would have to survive brokers that die and come back elsewhere, and
 * nobody asks more often than every two seconds. Callers at the same time share one.
 */
export function createStreamCheck(
  settings: StreamSettings,
  { group, reads, writes }: StreamUse,
  { open = openAdmin, warn = () => {} }: StreamCheckOptions = {},
): StreamCheck {
  const connection = connectionOf(settings)
  if (!connection) return async () => 'no broker is named: set Stream__Brokers'
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
      // Not waited for: with a broker that hangs it takes as long as the question did.
      void closeAfter(transactions, admin)
    }
  }

  const late = async () => delay(deadlineMs, 'the broker does not answer in time', { ref: false })
  return shared(() => Promise.race([ask(), late()]))
}

async function closeAfter(last: Promise<void> | undefined, admin: StreamAdmin | undefined): Promise<void> {
  await last
  await admin?.close().catch(() => {})
}

/**
 * Makes a check that warns once when this user may begin a transaction. It is repeated until the broker answers, and never fails. Its answer
 * is about this user alone: a Kafka that denies what no rule allows may still allow another user.
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

/** Calls while one is under way get its answer, and so do those for a while after. */
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

/** The first topic that this user may not use so. */
function denied(topics: readonly string[], use: keyof TopicUse, uses: ReadonlyMap<string, TopicUse>) {
  const topic = topics.find((name) => uses.get(name)?.[use] === false)
  return topic && `to ${use} topic ${topic} is denied to this user`
}

function groupMissing(name: string, groups: Awaited<ReturnType<StreamAdmin['describeGroups']>>): string | undefined {
  const group = groups.get(name)
  const isRebalancing = group?.state === 'PreparingRebalance' || group?.state === 'CompletingRebalance'
  return isRebalancing || group?.members.size ? undefined : `consumer group ${name} has no members: nothing is consumed`
}

/** The protocol's own errors have names; all else never came as far as an answer. */
function reasonOf(error: unknown, asked: string): string {
  const names = protocolErrors(error)
  if (names.includes('GROUP_AUTHORIZATION_FAILED')) return `${asked} is denied to this user`
  if (names.includes('SASL_AUTHENTICATION_FAILED')) return 'the broker does not accept the user and its password'
  if (names.length === 0) return 'the broker does not answer'
  return `${asked} cannot be described: ${names.at(-1)}`
}
