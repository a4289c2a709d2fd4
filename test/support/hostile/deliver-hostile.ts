import { setTimeout as delay } from 'node:timers/promises'
import { type LogRecord, positionText } from '@orderflow/kafka-log'
import { World } from '../memory/world.ts'
import type { HostileRecord } from './hostile.ts'
import { signedHeaders } from './signed-headers.ts'

/** A time that is longer than any batch takes, and shorter than the timeout of a test. */
const unansweredMs = 60_000

export interface Delivered {
  world: World
  positions: string[]
  /** Partitions in which a service is blocked, because it does not acknowledge a record even after a second delivery. */
  stopped: string[]
}

export async function deliverHostile(records: readonly HostileRecord[], world = new World()): Promise<Delivered> {
  const start = world.log.records.length
  const positions = records.map((record, index) => {
    const { topic, key, value } = record
    const headers = signedHeaders(record)
    return positionText(world.log.append({ topic, partition: index % 3, key, value: value ?? '', headers }))
  })
  const all = world.log.records.slice(start)
  const stopped = new Set<string>()
  for (const [role, topic] of world.subscriptions) {
    let due = all.filter((record) => record.topic === topic)
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      const answered = new Set(await answeredOf(world.deliver(role, topic, due)))
      due = due.filter((record) => !answered.has(record))
    }
    for (const { partition } of due) stopped.add(`${topic}/${partition} in ${role}-service`)
  }
  return { world, positions, stopped: [...stopped] }
}

/** Returns the handled records of a delivery, or an empty list if it fails or gets no answer. */
async function answeredOf(delivery: Promise<LogRecord[]>): Promise<LogRecord[]> {
  const given = new AbortController()
  const tooLate = delay(unansweredMs, [], { signal: given.signal })
  try {
    return await Promise.race([delivery, tooLate])
  } catch {
    return []
  } finally {
    tooLate.catch(() => {})
    given.abort()
  }
}
