import { randomUUID } from 'node:crypto'
import { Admin, Consumer, FetchIsolationLevels, findErrorBy, ListOffsetTimestamps } from '@platformatic/kafka'
import { connectionOf, type KafkaConnection, type StreamSettings } from '../stream/log/kafka.ts'
import { type LogRecord, recordsOf } from '../stream/log/log-record.ts'
import { mergeByTime } from '../stream/log/merge-by-time.ts'
import { recordTime } from '../stream/log/record-time.ts'
import type { LogReader, Span } from './log-reader.ts'
import { OperationError } from './terminal.ts'

const fetchBytes = 1024 * 1024

/**
 * The isolation level of the sidecar (the default of its Kafka client). At this level, the broker also delivers the records of aborted transactions.
 */
const isolationLevel = FetchIsolationLevels.READ_UNCOMMITTED

/** The broker's errors if the id of a topic is outdated: the topic was created again, or deleted. */
const otherTopicIds = ['UNKNOWN_TOPIC_ID', 'INCONSISTENT_TOPIC_ID']
/** A broker's errors for a missing topic or an invalid name. */
const noTopic = ['UNKNOWN_TOPIC_OR_PARTITION', 'INVALID_TOPIC_EXCEPTION']

/**
 * Returns the delay before the client's next attempt, in milliseconds. A fetch at an offset out of range breaks the client's fetch session
 * (@platformatic/kafka 2.12.1). The next fetch begins a new session, so it needs no delay.
 */
const retryDelay = (_client: unknown, _operation: string, _attempt: number, _retries: number, error: Error) =>
  findErrorBy(error, 'apiId', 'INVALID_FETCH_SESSION_EPOCH') ? 0 : 1_000

export function openLog(kafka: KafkaConnection): LogReader {
  const clientId = 'orderflow-operations'
  // The client requires the name of a consumer group, but this reader never joins the group.
  const groupId = `${clientId}-${randomUUID()}`
  const consumer = new Consumer({ clientId, groupId, ...kafka, isolationLevel, retryDelay })
  const failed =
    (what: string) =>
    (error: unknown): never => {
      throw error instanceof OperationError ? error : kafkaError(what, kafka, error)
    }

  async function fetchFrom(node: number, topic: string, topicId: string, spans: Span[], bytes: number) {
    const partitions = spans.map(({ partition, start }) => ({
      partition,
      fetchOffset: start,
      currentLeaderEpoch: -1,
      lastFetchedEpoch: -1,
      partitionMaxBytes: bytes,
    }))
    const response = await consumer.fetch({ node, topics: [{ topicId, partitions }], maxWaitTime: 500 })
    const answers = response.responses.flatMap((answer) => answer.partitions)
    return spans.map((span) => {
      const batches = answers.find(({ partitionIndex }) => partitionIndex === span.partition)?.records ?? []
      const records = batches.flatMap((batch) => recordsOf(topic, span.partition, batch))
      const inside = records.filter(({ offset }) => offset >= span.start && offset < span.end)
      const last = batches.at(-1)
      // Skips offsets without a record, such as the offset of a transaction's marker or of a record that compaction removed.
      if (last) span.start = last.firstOffset + BigInt(last.lastOffsetDelta) + 1n
      return inside
    })
  }

  /** Returns the next records of each span, and moves the span's `start`. */
  async function fetch(topic: string, spans: Span[], bytes = fetchBytes): Promise<LogRecord[][]> {
    consumer.topics.track(topic)
    const leadersOf = async (forceUpdate = false) =>
      (await consumer.metadata({ topics: [topic], forceUpdate })).topics.get(topic) ?? { id: '', partitions: [] }
    const known = await leadersOf()
    const results = new Map<Span, LogRecord[]>()
    const byLeader = Map.groupBy(spans, ({ partition }) => known.partitions[partition]?.leader ?? -1)
    for (const [leader, own] of byLeader) {
      const fetched = await fetchFrom(leader, topic, known.id, own, bytes).catch(async (error: Error) => {
        if (!otherTopicIds.some((id) => findErrorBy(error, 'apiId', id))) throw error
        // The topic was created again while this reader was open.
        const { id } = await leadersOf(true)
        return await fetchFrom(leader, topic, id, own, bytes)
      })
      for (const [index, span] of own.entries()) results.set(span, fetched[index] ?? [])
    }
    return spans.map((span) => results.get(span) ?? [])
  }

  async function offsets(topic: string, timestamp: bigint): Promise<bigint[]> {
    return (await consumer.listOffsets({ topics: [topic], timestamp })).get(topic) ?? []
  }

  async function* read(topic: string, spans: Span[]): AsyncGenerator<LogRecord[]> {
    const cursors = spans.map((span) => ({ ...span }))
    yield* mergeByTime(cursors, (empty) => fetch(topic, empty).catch(failed(`topic ${topic} cannot be read`)))
  }

  /**
   * Returns the offset after the last record of each partition that is earlier than a time.
   * @param starts the offsets of the first records that are not earlier. After the correction of a clock, earlier records may follow them
   */
  async function lastBefore(
    topic: string,
    moment: Date,
    starts: readonly (bigint | undefined)[],
    ends: readonly bigint[],
  ): Promise<bigint[]> {
    const last = ends.map((end, partition) => starts[partition] ?? end)
    const spans = ends.map((end, partition) => ({ partition, start: last[partition] ?? end, end }))
    for await (const records of read(topic, spans)) {
      for (const { partition, offset, timestamp } of records)
        if (timestamp < moment.getTime()) last[partition] = offset + 1n
    }
    return last
  }

  return {
    async topics() {
      const admin = new Admin({ clientId, ...kafka })
      return await admin
        .listTopics()
        .catch(failed('the topics cannot be listed'))
        .finally(() => admin.close())
    },

    async has({ topic, partition }) {
      try {
        const { topics } = await consumer.metadata({ topics: [topic] })
        return partition >= 0 && partition < (topics.get(topic)?.partitionsCount ?? 0)
      } catch (error) {
        // The client's error for an unknown topic has a message, but no code.
        const isUnknown = findErrorBy(error as Error, 'message', `Unknown topic ${topic}.`)
        const isNone = isUnknown || noTopic.some((id) => findErrorBy(error as Error, 'apiId', id))
        return isNone ? false : failed(`topic ${topic} cannot be read`)(error)
      }
    },

    async spans(topic, { from, to } = {}) {
      const find = async () => {
        const oldest = await offsets(topic, ListOffsetTimestamps.EARLIEST)
        const newest = await offsets(topic, ListOffsetTimestamps.LATEST)
        // Kafka answers -1 if all records are earlier than the given time. A negative time has other meanings, such as the end of the log.
        const since = async (moment: Date) =>
          (await offsets(topic, BigInt(recordTime(moment.getTime())))).map((offset, index) =>
            offset < 0n ? newest[index] : offset,
          )
        const starts = from ? await since(from) : oldest
        const ends = to ? await lastBefore(topic, to, await since(to), newest) : newest
        return oldest.map((_, partition) => ({ partition, start: starts[partition] ?? 0n, end: ends[partition] ?? 0n }))
      }
      return await find().catch(failed(`topic ${topic} cannot be read`))
    },

    read,

    async at({ topic, partition, offset }) {
      const start = BigInt(offset)
      try {
        // With a limit of one byte, the broker returns only the batch that contains the record.
        const [found] = await fetch(topic, [{ partition, start, end: start + 1n }], 1)
        return found?.[0]
      } catch (error) {
        const isGone = findErrorBy(error as Error, 'apiId', 'OFFSET_OUT_OF_RANGE')
        return isGone ? undefined : failed(`${topic} cannot be read`)(error)
      }
    },

    close: () => consumer.close(true),
  }
}

/** Returns the connection to Kafka for an operator's command. @throws {OperationError} if the settings name no broker */
export function kafkaConnection(stream: StreamSettings): KafkaConnection {
  const connection = connectionOf(stream)
  if (connection) return connection
  throw new OperationError('no broker is configured', { nextStep: 'set the variable Stream__Brokers to host:port' })
}

export function kafkaError(what: string, { bootstrapBrokers }: KafkaConnection, cause: unknown): OperationError {
  const message = `${what} at ${bootstrapBrokers.join(',')}: ${rootMessage(cause)}`
  return new OperationError(message, {
    nextStep: 'check that Kafka runs (make up), and that Stream__Brokers is right',
    cause,
  })
}

/** Returns the message of the root cause, because the client wraps errors in other errors. */
export function rootMessage(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return rootMessage(error.errors[0])
  if (error instanceof Error) return error.cause instanceof Error ? rootMessage(error.cause) : error.message
  return String(error)
}
