import type { LogReader, Span } from '@orderflow/kafka-log'

type Log = Pick<LogReader, 'spans' | 'read'>

/** A part of a partition. */
export interface Part extends Span {
  topic: string
}

/** Returns the offsets of all records that the partitions have now. */
export async function partsOf(log: Pick<LogReader, 'spans'>, topics: readonly string[]): Promise<Part[]> {
  const parts: Part[][] = []
  for (const topic of topics) parts.push((await log.spans(topic)).map((span) => ({ ...span, topic })))
  return parts.flat()
}

/**
 * Returns a consistent part of the log: it has the cause of each event that it has, in whatever topic and partition. It has all records that the log
 * had before this call, whatever their times.
 *
 * Partitions are read one after the other, so an event may arrive between its cause's partition and its own. Three readings detect this. If no record
 * arrived between the first two, the second is consistent. Otherwise the events that arrived between them may lack their causes, which are among the
 * records between the last two readings. The part has those that are not later than these events.
 *
 * Only the times of records that arrive during this call are compared. So a corrected clock of a broker cannot shorten a backup.
 */
export async function consistentParts(log: Log, topics: readonly string[]): Promise<Part[]> {
  const first = await partsOf(log, topics)
  const second = await partsOf(log, topics)
  const arrived = between(first, second)
  if (arrived.length === 0) return second
  const until = await newestTime(log, arrived)
  const third = await partsOf(log, topics)
  const causes = new Map<string, bigint>()
  for (const part of between(second, third)) causes.set(keyOf(part), await endOfTime(log, part, until))
  return second.map((part) => ({ ...part, end: causes.get(keyOf(part)) ?? part.end }))
}

const keyOf = ({ topic, partition }: Part) => `${topic}/${partition}`

/** Returns the parts that arrived after the reading `before`. */
function between(before: readonly Part[], after: readonly Part[]): Part[] {
  const ends = new Map(before.map((part) => [keyOf(part), part.end]))
  return after.flatMap((part) => {
    const start = ends.get(keyOf(part)) ?? part.start
    return start < part.end ? [{ ...part, start }] : []
  })
}

async function newestTime(log: Log, parts: readonly Part[]): Promise<number> {
  let newest = 0
  for (const { topic, ...span } of parts) {
    for await (const records of log.read(topic, [span])) {
      for (const { timestamp } of records) newest = Math.max(newest, timestamp)
    }
  }
  return newest
}

/** Returns the offset of the first record that is later than `until`. */
async function endOfTime(log: Log, { topic, ...span }: Part, until: number): Promise<bigint> {
  for await (const records of log.read(topic, [span])) {
    const late = records.find(({ timestamp }) => timestamp > until)
    if (late) return late.offset
  }
  return span.end
}
