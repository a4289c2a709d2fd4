import { setTimeout as delay } from 'node:timers/promises'
import { positionsOf, withAdmin } from '@orderflow/kafka-log'
import type { KafkaConnection } from '@orderflow/stack'
import { consumedTopics } from '@orderflow/stack/operate'

export interface Backlog {
  /** The number of unhandled records, added up over all applications. */
  behind: number
  /** All positions as a text, which stays the same while no offset moves. */
  positions: string
}

export async function readBacklog(kafka: KafkaConnection): Promise<Backlog> {
  const found = await withAdmin(kafka, (admin) => positionsOf(admin, consumedTopics))
  return {
    behind: found.reduce((sum, { lag }) => sum + lag, 0),
    positions: found.map(({ group, topic, partition, next, end }) => [group, topic, partition, next, end]).join(),
  }
}

const periodMs = 1_000
/** The test ends if every record is handled and no offset moves for this time. */
const quietMs = 4_000
/** The system is stuck if a record is unhandled and no offset moves for this time. */
const stuckMs = 90_000

/** Waits until no offset moves. Returns the number of unhandled records. */
export async function settle(kafka: KafkaConnection, onProgress: (line: string) => void): Promise<number> {
  let last: Backlog = { behind: Number.NaN, positions: '' }
  let movedAt = Date.now()
  let toldAt = Date.now()
  for (;;) {
    const now = await readBacklog(kafka).catch(() => last)
    if (now.positions !== last.positions) movedAt = Date.now()
    last = now
    const stillFor = Date.now() - movedAt
    if (stillFor > (last.behind === 0 ? quietMs : stuckMs)) return last.behind
    if (Date.now() - toldAt > 10_000) {
      onProgress(`waiting until no offset moves: ${last.behind} records are unhandled`)
      toldAt = Date.now()
    }
    await delay(periodMs)
  }
}
