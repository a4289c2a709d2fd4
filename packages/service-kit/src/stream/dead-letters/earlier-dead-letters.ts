import { deadLetterTopic } from '@orderflow/envelope'
import type { Admin } from '@platformatic/kafka'
import { earliest, fetchBatches, latest, metadataOf, offsetsAt, type StreamSettings } from '../log/kafka.ts'
import { type LogRecord, recordsOf } from '../log/log-record.ts'
import { positionText } from '../log/record.ts'
import { createSharedAdmin } from '../log/shared-admin.ts'
import { readRecord } from './dead-letter-record.ts'

/**
 * Returns the dead letters that processes of this service wrote since a time, in milliseconds since 1970. Each is named by the failed record's id, or by
 * its position if the id is unknown. The caller deletes those that it no longer needs.
 */
export type EarlierDeadLetters = (topic: string, since: number) => Promise<Set<string>>

const fetchBytes = 1024 * 1024

/** The allowed difference between the time of a record and the broker's time of its dead letter. */
const maxSkewMs = 60_000

/** The number of remembered dead letters. A sidecar repeats the records of about a second. */
const maxRemembered = 20_000

/** The dead letters that were read from a topic: those since a time, up to the next offset of each partition. */
interface Known {
  since: number
  next: bigint[]
  found: Set<string>
}

/** A read that waits for its turn. */
type Waiting = { since: number; found: Promise<Set<string>> }

/**
 * Creates the function that reads the dead letters of earlier processes from Kafka. A process that dies between a dead letter and the sidecar's commit
 * leaves no other trace of the outcome. Each call continues where the last one ended.
 */
export function createEarlierDeadLetters(settings: StreamSettings, app: string): EarlierDeadLetters {
  const use = createSharedAdmin(settings, 'orderflow-earlier-dead-letters', 3_000)
  const known = new Map<string, Known>()
  const waiting = new Map<string, Waiting>()
  let reading: Promise<unknown> = Promise.resolve()

  async function read(admin: Admin, topic: string, since: number): Promise<Set<string>> {
    const before = known.get(topic)
    const start = Math.max(0, since - maxSkewMs)
    const own =
      before && before.since <= start
        ? before
        : { since: start, next: await offsetsOf(admin, topic, BigInt(start)), found: new Set<string>() }
    known.set(topic, own)
    await readOn(admin, topic, own, app)
    return own.found
  }

  return (topic, since) => {
    if (!settings.Brokers) return Promise.resolve(new Set())
    // The partitions of a topic share what was read. So reads take turns, and deliveries that wait for a turn share the next read of their topic.
    const joined = waiting.get(topic)
    if (joined) {
      joined.since = Math.min(joined.since, since)
      return joined.found
    }
    const begin = () => {
      waiting.delete(topic)
      return use((admin) => read(admin, deadLetterTopic(topic), own.since))
    }
    const own: Waiting = { since, found: reading.then(begin) }
    waiting.set(topic, own)
    reading = own.found.catch(() => {})
    return own.found
  }
}

async function readOn(admin: Admin, topic: string, { next, found }: Known, app: string): Promise<void> {
  const ends = await offsetsOf(admin, topic, latest)
  const metadata = await metadataOf(admin, [topic])
  for (const [partition, end] of ends.entries()) {
    // A partition that was created later is read from its beginning. The deletion of the topic moves its end back.
    let offset = next[partition] ?? 0n
    if (offset > end) offset = 0n
    while (offset < end) {
      const batches = await fetchBatches(admin, metadata, { topic, partition, offset, bytes: fetchBytes })
      if (batches === 'out-of-range') {
        offset = (await offsetsOf(admin, topic, earliest))[partition] ?? end
        continue
      }
      const last = batches.at(-1)
      if (!last) break
      for (const batch of batches) for (const record of recordsOf(topic, partition, batch)) remember(found, record, app)
      offset = last.firstOffset + BigInt(last.lastOffsetDelta) + 1n
      next[partition] = offset
    }
    next[partition] = offset
  }
}

function remember(found: Set<string>, record: LogRecord, app: string): void {
  const one = readRecord(record)
  if (one.kind !== 'dead-letter' || one.app !== app) return
  found.add(one.record ?? positionText(one.position))
  const [oldest] = found
  if (found.size > maxRemembered && oldest !== undefined) found.delete(oldest)
}

/** Returns an offset of each partition, by partition: the first record at a time, or the end of the log if all records are earlier. */
async function offsetsOf(admin: Admin, topic: string, timestamp: bigint): Promise<bigint[]> {
  const { topics } = await metadataOf(admin, [topic])
  // A deleted topic has no partitions.
  const { length } = topics.find(({ name }) => name === topic)?.partitions ?? []
  const partitions = Array.from({ length }, (_, partition) => ({ topic, partition }))
  const found = await offsetsAt(admin, partitions, timestamp)
  if (found.every((offset) => offset >= 0n)) return found
  const ends = await offsetsAt(admin, partitions, latest)
  return found.map((offset, partition) => (offset < 0n ? (ends[partition] ?? 0n) : offset))
}
