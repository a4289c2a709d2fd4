import { setTimeout as delay } from 'node:timers/promises'
import { consumedTopics, type KafkaConnection, positionsOf, withAdmin } from '@orderflow/cli'

export interface Backlog {
  /** Records that some application has still to handle, each counted once per application: 0 only if there is none. */
  behind: number
  /** Where everything stands: the same text while nothing moves. */
  positions: string
}

/** How far the applications are behind the log. */
export async function readBacklog(kafka: KafkaConnection): Promise<Backlog> {
  const found = await withAdmin(kafka, (admin) => positionsOf(admin, consumedTopics))
  return {
    behind: found.reduce((sum, { lag }) => sum + lag, 0),
    positions: found.map(({ group, topic, partition, next, end }) => [group, topic, partition, next, end]).join(),
  }
}

const periodMs = 1_000
/** Nothing is behind and nothing has moved for so long: it is over. */
const quietMs = 4_000
/** Something is behind and nothing has moved for so long: it is stuck. */
const stuckMs = 90_000

/** Waits until nothing moves any more, however long that takes. Answers how many records are behind even so. */
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
      onProgress(`waiting until nothing moves: ${last.behind} records are behind`)
      toldAt = Date.now()
    }
    await delay(periodMs)
  }
}
