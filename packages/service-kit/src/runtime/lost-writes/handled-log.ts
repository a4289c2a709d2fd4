import { deadLetterTopic } from '@orderflow/envelope'
import {
  extentsOf,
  type GroupPosition,
  groupPositions,
  headerOf,
  type LogRecord,
  logOn,
  requireConnection,
  type Span,
  type StreamSettings,
  withAdmin,
} from '@orderflow/kafka-log'
import { type Rejections, readRejections } from '../../stream/dead-letters/rejections.ts'
import { replayedFrom } from '../../stream/log/record.ts'

/** The part of a partition that a service has handled: from the offset `start` up to, but excluding, `end`. */
export interface Handled extends Span {
  topic: string
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
  /** Reads the dead letters of a topic. Without all of them, a rejected event would look like a lost one. */
  rejections(topic: string): Promise<Pick<Rejections, 'reasonOf'>>
}

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
  const kafka = requireConnection(settings)
  const timeouts = { connectTimeout: 1_000, timeout: 3_000, requestTimeout: 10_000 }
  return await withAdmin(
    kafka,
    async (admin) => {
      const log = logOn(async () => admin, kafka.bootstrapBrokers)
      return await work({
        async extents() {
          const committed = await groupPositions(admin, [app])
          return handledIn(await extentsOf(admin, topics), committed, consumed)
        },
        read: (part) => readHandled(part, log.read(part.topic, [part])),
        async rejections(topic) {
          const deadLetters = deadLetterTopic(topic)
          return await readRejections(app, log.read(deadLetters, await log.spans(deadLetters)))
        },
      })
    },
    { clientId: 'orderflow-store-watch', ...timeouts },
  )
}

/** Returns the handled parts of partitions. */
export function handledIn(
  extents: readonly (Span & { topic: string })[],
  committed: readonly Omit<GroupPosition, 'group'>[],
  consumed: readonly string[],
): Handled[] {
  return extents.flatMap(({ topic, partition, start, end }): Handled[] => {
    if (!consumed.includes(topic)) return [{ topic, partition, start, end, logEnd: end, isConsumed: false }]
    const own = committed.find((each) => each.topic === topic && each.partition === partition)
    const position = own?.offset ?? start
    // The position is from an earlier topic of the same name, or Kafka lost the end of its log.
    if (position > end) return []
    const handled = position < start ? start : position
    return [{ topic, partition, start, end: handled, logEnd: end, isConsumed: true }]
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
