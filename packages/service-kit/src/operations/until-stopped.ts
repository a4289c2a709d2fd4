import { setTimeout as delay } from 'node:timers/promises'
import { type KafkaConnection, LogError, protocolErrors, withAdmin } from '@orderflow/kafka-log'
import type { Admin } from '@platformatic/kafka'
import { OperationError } from './terminal.ts'

/** Longer than the grace period of a pod (chart/templates/deployments.yaml), and than the session of a killed sidecar. */
const patienceMs = 120_000

interface StopOptions {
  /** Returns the number of sidecars that consume. */
  countMembers: () => Promise<number>
  /** Receives the reason for a wait, before each pause. */
  onWait: (reason: string) => void
  pauseMs?: number
  patienceMs?: number
}

/**
 * Waits until no sidecar of a service consumes. Kafka knows this best: a lost machine may still run a service that its platform no longer lists.
 * @param group the consumer group, which has the service's name
 * @throws {OperationError} if the service still consumes after two minutes
 */
export async function untilStopped(
  group: string,
  { countMembers, onWait, pauseMs = 1_000, patienceMs: patience = patienceMs }: StopOptions,
): Promise<void> {
  const deadline = performance.now() + patience
  for (;;) {
    const count = await countMembers()
    if (count === 0) return
    const reason = `${group} still consumes: its group in Kafka has ${count} ${count === 1 ? 'member' : 'members'}`
    if (performance.now() > deadline) {
      throw new OperationError(reason, { nextStep: `stop ${group} everywhere, then repeat the rebuild` })
    }
    onWait(reason)
    await delay(pauseMs)
  }
}

/** Returns a function that counts the members of a consumer group. Kafka reports an error for a group of a service that never ran. */
export function memberCounter(kafka: KafkaConnection, group: string): () => Promise<number> {
  const count = async (admin: Admin) => (await admin.describeGroups({ groups: [group] })).get(group)?.members.size ?? 0
  return () =>
    withAdmin(kafka, count, { clientId: 'orderflow-operations' }).catch((cause: unknown) => {
      if (protocolErrors(cause).includes('GROUP_ID_NOT_FOUND')) return 0
      throw new LogError(`consumer group ${group} cannot be described`, { brokers: kafka.bootstrapBrokers, cause })
    })
}
