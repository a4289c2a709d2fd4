import { deadLetterTopic } from '@orderflow/envelope'
import { type LogRecord, logOn, positionText, type StreamSettings } from '@orderflow/kafka-log'
import type { Admin } from '@platformatic/kafka'
import { shareAdmin } from '../log/shared-admin.ts'
import { readRecord } from './dead-letter-record.ts'

/**
 * Returns the dead letters that processes of this service wrote since a time, in milliseconds since 1970. Each is named by the failed record's id, or by
 * its position if the id is unknown. The caller deletes those that it no longer needs.
 */
export type EarlierDeadLetters = (topic: string, since: number) => Promise<Set<string>>

/** The allowed difference between the time of a record and the broker's time of its dead letter. */
const maxSkewMs = 60_000

/** The number of remembered dead letters. A sidecar repeats the records of about a second. */
const maxRemembered = 20_000

/** The dead letters that were read from a topic: those since a time, up to the next offset of each partition. */
interface Known {
  since: number
  next: Map<number, bigint>
  found: Set<string>
}

/** A read that waits for its turn. */
type Waiting = { since: number; found: Promise<Set<string>> }

/**
 * Creates the function that reads the dead letters of earlier processes from Kafka. A process that dies between a dead letter and the sidecar's commit
 * leaves no other trace of the outcome. Each call continues where the last one ended.
 */
export function createEarlierDeadLetters(settings: StreamSettings, app: string): EarlierDeadLetters {
  const use = shareAdmin(settings, 'orderflow-earlier-dead-letters', 3_000)
  const known = new Map<string, Known>()
  const waiting = new Map<string, Waiting>()
  let reading: Promise<unknown> = Promise.resolve()

  async function read(admin: Admin, topic: string, since: number): Promise<Set<string>> {
    const start = Math.max(0, since - maxSkewMs)
    const before = known.get(topic)
    const isKnown = before !== undefined && before.since <= start
    const own = isKnown ? before : { since: start, next: new Map<number, bigint>(), found: new Set<string>() }
    const log = logOn(async () => admin, settings.Brokers.split(','))
    // A deleted topic has no partitions.
    const isThere = await log.has({ topic, partition: 0, offset: '0' })
    const spans = isThere ? await log.spans(topic, isKnown ? {} : { from: new Date(start) }) : []
    for (const { partition, start, end } of spans) {
      // A partition that was created later is read from its beginning. The deletion of the topic moves its end back.
      const next = own.next.get(partition) ?? start
      own.next.set(partition, next > end || next < start ? start : next)
    }
    known.set(topic, own)
    for (const { partition, end } of spans) {
      const part = { partition, start: own.next.get(partition) ?? end, end }
      for await (const records of log.read(topic, [part])) {
        for (const record of records) {
          remember(own.found, record, app)
          own.next.set(partition, record.offset + 1n)
        }
      }
      own.next.set(partition, end)
    }
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

function remember(found: Set<string>, record: LogRecord, app: string): void {
  const one = readRecord(record)
  if (one.kind !== 'dead-letter' || one.app !== app) return
  found.add(one.record ?? positionText(one.position))
  const [oldest] = found
  if (found.size > maxRemembered && oldest !== undefined) found.delete(oldest)
}
