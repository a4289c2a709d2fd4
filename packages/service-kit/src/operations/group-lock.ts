import { setTimeout as delay } from 'node:timers/promises'
import type { KafkaConnection } from '@orderflow/kafka-log'
import { Consumer } from '@platformatic/kafka'
import { OperationError } from './terminal.ts'

/** The time after which Kafka removes a killed member. Hosted brokers allow no shorter time. */
const sessionMs = 6_000
/** The time to wait for a holder that was killed, for the brokers' default delay of a first rebalance, and for the rebalance. */
const patienceMs = 2 * sessionMs + 8_000

/** Another process holds the lock, or this process has lost it. */
export class LockError extends OperationError {}

export interface GroupLock {
  /**
   * Call it before each write.
   * @throws {LockError} if this process has lost the lock, because it was suspended or Kafka does not answer
   */
  requireHeld(): Promise<void>
}

interface LockOptions {
  /** The consumer group that is the lock. It stores no positions. */
  group: string
  /** The work of the holder, for messages, such as `replay`. */
  holder: string
  /** Is called once before a wait. */
  onWait: () => void
}

/**
 * Runs `work` while no other process does so with the same Kafka, on whatever machine. The holder is the leader of a consumer group: Kafka lets the
 * first member lead until it leaves or its session ends. Requires the right to read the group.
 * @throws {LockError} if another process still holds the lock after `patienceMs`
 */
export async function withGroupLock<Result>(
  kafka: KafkaConnection,
  { group, holder, onWait }: LockOptions,
  work: (lock: GroupLock) => Promise<Result>,
): Promise<Result> {
  let isLeader = false
  const consumer = new Consumer({
    ...{ clientId: group, groupId: group, ...kafka },
    ...{ sessionTimeout: sessionMs, rebalanceTimeout: sessionMs, heartbeatInterval: 1_000 },
  })
  consumer.on('consumer:group:join', (join) => {
    isLeader = join.isLeader === true
  })
  // The client reports here that a member could not join again. Then it has no session, so `requireHeld` fails.
  consumer.on('error', () => {})
  const isHeld = () => isLeader && consumer.isActive()
  try {
    const deadline = performance.now() + patienceMs
    await consumer.joinGroup()
    if (!isHeld()) onWait()
    while (!isHeld()) {
      if (performance.now() > deadline) throw busy(kafka, holder)
      await delay(100)
    }
    return await work({
      async requireHeld() {
        // A member that joins causes a rebalance, during which the leader has no session for about a second.
        const end = performance.now() + patienceMs
        while (!isHeld()) {
          if ((consumer.isActive() && !isLeader) || performance.now() > end) throw lost(kafka, group)
          await delay(50)
        }
      },
    })
  } finally {
    // Also leaves the group.
    await consumer.close(true)
  }
}

const busy = ({ bootstrapBrokers }: KafkaConnection, holder: string) =>
  new LockError(`another ${holder} uses Kafka at ${bootstrapBrokers.join(',')}`, {
    nextStep: 'wait until it ends, then run this command again',
  })

const lost = ({ bootstrapBrokers }: KafkaConnection, group: string) =>
  new LockError(`this command lost its place in the group ${group} of Kafka at ${bootstrapBrokers.join(',')}`, {
    nextStep: 'run it again: it continues after the last written record',
  })
