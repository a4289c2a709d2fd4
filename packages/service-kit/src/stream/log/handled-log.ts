import { deadLetterTopic } from '@orderflow/envelope'
import type { Admin } from '@platformatic/kafka'
import { type Rejections, readRejections } from '../dead-letters/rejections.ts'
import { fetchBatches, metadataOf, type StreamSettings } from './kafka.ts'
import { headerOf, type LogRecord, recordsOf } from './log-record.ts'
import { mergeByTime } from './merge-by-time.ts'
import { type Extent, extentsOf } from './positions.ts'
import { replayedFrom } from './record.ts'
import { withAdmin } from './shared-admin.ts'

/** The part of a partition that a service has handled: from the offset `first` up to, but excluding, `end`. */
export interface Handled extends Extent {
  /** The offset of the next new record. */
  logEnd: bigint
  /** False if the service only writes the topic. */
  isConsumed: boolean
}

/** Reads the events that a service has handled. Its functions fail if Kafka does not answer. */
export interface HandledLog {
  /**
   * Returns the handled part of each partition. It ends at the position of the service's consumer group. A topic that the service does not consume has
   * only events that it saved before it published them, so the whole topic is handled. A partition is left out if the handled part is unknown.
   */
  extents(): Promise<Handled[]>
  /** Reads the records of a part. Leaves out replays in a topic that the service does not consume, because an operator may have edited them. */
  read(part: Handled): AsyncIterable<LogRecord[]>
  /** Reads the dead letters of a topic. */
  rejections(topic: string): Promise<Pick<Rejections, 'reasonOf'>>
}

const fetchBytes = 1024 * 1024

/**
 * Opens the log for the time of `work`.
 * @param topics the topics from which the service rebuilds its store
 * @param consumed the topics that its consumer group reads
 */
export async function withHandledLog<Result>(
  settings: StreamSettings,
  { app, topics, consumed }: { app: string; topics: readonly string[]; consumed: readonly string[] },
  work: (log: HandledLog) => Promise<Result>,
): Promise<Result> {
  const logOf = (admin: Admin): HandledLog => ({
    async extents() {
      const [group] = await admin.listConsumerGroupOffsets({ groups: [app] })
      return handledIn(await extentsOf(admin, topics), group?.topics ?? [], consumed)
    },
    read: (part) => readHandled(part, readParts(admin, part.topic, [part])),
    async rejections(topic) {
      const deadLetters = deadLetterTopic(topic)
      return await readRejections(app, readParts(admin, deadLetters, await extentsOf(admin, [deadLetters])))
    },
  })
  const connection = { clientId: 'orderflow-store-watch', requestTimeout: 10_000 }
  return await withAdmin(settings, connection, (admin) => work(logOf(admin)))
}

/** Returns the handled parts of partitions. */
export function handledIn(
  extents: readonly Extent[],
  committed: readonly { name: string; partitions: { partitionIndex: number; committedOffset: bigint }[] }[],
  consumed: readonly string[],
): Handled[] {
  return extents.flatMap((extent): Handled[] => {
    const { topic, partition, first, end } = extent
    if (!consumed.includes(topic)) return [{ ...extent, logEnd: end, isConsumed: false }]
    const partitions = committed.find(({ name }) => name === topic)?.partitions
    const position = partitions?.find(({ partitionIndex }) => partitionIndex === partition)?.committedOffset ?? first
    // The position is from an earlier topic of the same name, or Kafka lost the end of its log.
    if (position > end) return []
    return [{ ...extent, end: position < first ? first : position, logEnd: end, isConsumed: true }]
  })
}

/** Leaves out the records that the service need not have handled. */
export async function* readHandled(
  { isConsumed }: Handled,
  all: AsyncIterable<LogRecord[]>,
): AsyncGenerator<LogRecord[]> {
  for await (const records of all)
    yield isConsumed ? records : records.filter((record) => headerOf(record, replayedFrom) === undefined)
}

/**
 * Reads parts of a topic. Records of different partitions are merged by timestamp.
 * @throws {Error} if a record is missing, for example because the retention deleted it meanwhile
 */
async function* readParts(admin: Admin, topic: string, parts: readonly Extent[]): AsyncGenerator<LogRecord[]> {
  const cursors = parts.map(({ partition, first, end }) => ({ partition, start: first, end }))
  if (cursors.every(({ start, end }) => start >= end)) return
  const metadata = await metadataOf(admin, [topic])

  async function fetch(cursor: (typeof cursors)[number]): Promise<LogRecord[]> {
    const { partition, start, end } = cursor
    const batches = await fetchBatches(admin, metadata, { topic, partition, offset: start, bytes: fetchBytes })
    const last = batches === 'out-of-range' ? undefined : batches.at(-1)
    // Without all dead letters, a rejected event would look like a lost one. So the caller must begin again.
    if (!last || batches === 'out-of-range')
      throw new Error(`partition ${topic}/${partition} did not return the record at the offset ${start}`)
    cursor.start = last.firstOffset + BigInt(last.lastOffsetDelta) + 1n
    const records = batches.flatMap((batch) => recordsOf(topic, partition, batch))
    return records.filter(({ offset }) => offset >= start && offset < end)
  }
  yield* mergeByTime(cursors, (empty) => Promise.all(empty.map(fetch)))
}
