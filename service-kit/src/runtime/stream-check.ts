import { setTimeout as delay } from 'node:timers/promises'
import type { AdminOptions } from '@platformatic/kafka'
import { connectionOf, type KafkaConnection, type StreamSettings } from '../stream/kafka-connection.ts'

/** What keeps a service from its stream, in words that may be public; undefined when nothing does. */
export type StreamCheck = () => Promise<string | undefined>

/** What is asked of Kafka: @platformatic/kafka's Admin has it. */
export interface GroupAdmin {
  listTopics(): Promise<unknown>
  describeGroups(options: { groups: string[] }): Promise<Map<string, { state: string; members: { size: number } }>>
  close(): Promise<void>
}

/** Whoever asks whether a service is ready waits for a few seconds only. */
const deadlineMs = 2_500

/**
 * How long an answer holds for others who ask. A good one must not cost a connection each time; a bad one is what somebody waits to
 * see change.
 */
const readyForMs = 2_000
const missingForMs = 500

/** A group's coordinator moves, or loads its log, within this: no reason yet. */
const patience = { retries: 5, retryDelay: 300, connectTimeout: 1_000, timeout: 1_000, requestTimeout: 2_000 }

/** Loaded when first asked for: its modules take 55 MB and most of a second, which a start and its tests can do without. */
async function openAdmin(connection: KafkaConnection): Promise<GroupAdmin> {
  const { Admin } = await import('@platformatic/kafka')
  const options: AdminOptions & { requestTimeout: number } = {
    clientId: 'orderflow-readiness',
    ...connection,
    ...patience,
  }
  return new Admin(options)
}

/**
 * Whether the service can use the stream: its sidecar's health stays green when the broker is away and when its group is denied, so
 * Kafka itself is asked. Without a group, whether the broker answers; with one, whether the group consumes: it may be described and has
 * members. A rebalance is no reason, since all replicas are in it whenever one of them starts.
 *
 * Each question has a connection of its own: one that stays open would have to survive brokers that die and come back elsewhere, and
 * nobody asks more often than every two seconds. Callers at the same time share one.
 * @param group the consumer group of the service's sidecar: its app id (components/kafka.yaml, consumerGroup)
 */
export function createStreamCheck(
  settings: StreamSettings,
  group: string | undefined,
  open: (connection: KafkaConnection) => Promise<GroupAdmin> = openAdmin,
): StreamCheck {
  const connection = connectionOf(settings)
  if (!connection) return async () => 'no broker is named: set Stream__Brokers'

  async function ask(): Promise<string | undefined> {
    let admin: GroupAdmin | undefined
    try {
      admin = await open(connection as KafkaConnection)
      if (group === undefined) await admin.listTopics()
      else return groupMissing(group, await admin.describeGroups({ groups: [group] }))
    } catch (error) {
      return reasonOf(error, group)
    } finally {
      // Not waited for: with a broker that hangs it takes as long as the question did.
      admin?.close().catch(() => {})
    }
  }

  const late = async () => delay(deadlineMs, 'the broker does not answer in time', { ref: false })
  return shared(() => Promise.race([ask(), late()]))
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

function groupMissing(name: string, groups: Awaited<ReturnType<GroupAdmin['describeGroups']>>): string | undefined {
  const group = groups.get(name)
  const isRebalancing = group?.state === 'PreparingRebalance' || group?.state === 'CompletingRebalance'
  return isRebalancing || group?.members.size ? undefined : `consumer group ${name} has no members: nothing is consumed`
}

/** The protocol's own errors have names; all else never came as far as an answer. */
function reasonOf(error: unknown, group: string | undefined): string {
  const names = protocolErrors(error)
  if (names.includes('GROUP_AUTHORIZATION_FAILED')) return `consumer group ${group} is denied to this user`
  if (names.includes('SASL_AUTHENTICATION_FAILED')) return 'the broker does not accept the user and its password'
  if (names.length === 0) return 'the broker does not answer'
  const what = group === undefined ? 'the topics cannot be listed' : `consumer group ${group} cannot be described`
  return `${what}: ${names.at(-1)}`
}

/** The client wraps errors in lists of errors and causes. */
function protocolErrors(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const { apiId, errors = [], cause } = error as { apiId?: string; errors?: unknown[]; cause?: unknown }
  return [...(apiId ? [apiId] : []), ...errors.flatMap(protocolErrors), ...protocolErrors(cause)]
}
