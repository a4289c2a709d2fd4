import { setTimeout as delay } from 'node:timers/promises'
import type { Admin } from '@platformatic/kafka'
import { openAdmin } from './admin.ts'
import type { KafkaConnection } from './connection.ts'
import { isPermanent, LogError, protocolErrors } from './errors.ts'
import { mergeByTime } from './merge-by-time.ts'
import {
  type Fetched,
  fetchFrom,
  type LedPartition,
  offsetsAt,
  type Partitions,
  partitionKey,
  partitionsOf,
  requireReadable,
} from './partitions.ts'
import { describeLog, type Extent } from './positions.ts'
import type { LogRecord, RecordPosition } from './record.ts'
import { recordTime } from './record-time.ts'

/** A part of one partition: from the offset `start` up to, but excluding, `end`. */
export interface Span {
  partition: number
  start: bigint
  end: bigint
}

/**
 * Selects records by their time of arrival: from the first record at or after `from` up to the last one before `to`. A missing time is no limit, so the
 * default is the whole log. Records between these two are selected whatever their times, because a broker's clock may have been wrong for a while.
 */
export interface TimeRange {
  from?: Date | undefined
  to?: Date | undefined
}

/** Reads the log without a consumer group. Methods throw `LogError`. */
export interface LogReader {
  topics(): Promise<string[]>
  has(position: RecordPosition): Promise<boolean>
  /** Returns a part of each partition, in the sequence of partitions. */
  spans(topic: string, range?: TimeRange): Promise<Span[]>
  /** Reads the records of the spans in chunks. Records of different partitions are merged by timestamp. Fails if the log no longer has a record. */
  read(topic: string, spans: Span[]): AsyncGenerator<LogRecord[]>
  /** Returns the record at a position; undefined if the log no longer has it. */
  at(position: RecordPosition): Promise<LogRecord | undefined>
  close(): Promise<void>
}

/** Returns the record at a position; undefined if the record, its partition or its topic does not exist. */
export async function recordAt(log: LogReader, position: RecordPosition): Promise<LogRecord | undefined> {
  return (await log.has(position)) ? await log.at(position) : undefined
}

const fetchBytes = 1024 * 1024
/** The longest wait for records that the leader has, but not yet its followers. */
const waitMs = 500

/** The second attempt follows at once, because new metadata may be enough. */
const attempts = 5
const retryMs = 1_000

/** The codes of Kafka's errors for a missing topic and for an invalid name. */
const noTopic = ['UNKNOWN_TOPIC_OR_PARTITION', 'INVALID_TOPIC_EXCEPTION']

/** Opens the log. Connects on the first call, and repeats a request for three seconds after an error that may be temporary. */
export function openLog(kafka: KafkaConnection): LogReader {
  let admin: Promise<Admin> | undefined
  const open = () => {
    admin ??= openAdmin(kafka, { clientId: 'orderflow-operations' })
    return admin
  }
  return { ...logOn(open, kafka.bootstrapBrokers, attempts), close: async () => (await admin)?.close() }
}

/** Returns the methods of a reader that uses an open connection. @param brokers the addresses of brokers, for messages */
export function logOn(open: () => Promise<Admin>, brokers: readonly string[], attempts = 1): Omit<LogReader, 'close'> {
  /** The partitions of topics that were read before. */
  const known = new Map<string, Partitions>()

  async function patiently<T>(what: string, ask: (admin: Admin) => Promise<T>): Promise<T> {
    for (let left = attempts - 1; ; left -= 1) {
      try {
        return await ask(await open())
      } catch (cause) {
        // The leader may have changed, or the topic was created again.
        known.clear()
        if (left <= 0 || isPermanent(cause)) throw new LogError(`${what} cannot be read`, { brokers, cause })
        if (left < attempts - 1) await delay(retryMs)
      }
    }
  }

  async function fetch(admin: Admin, topic: string, spans: Span[], bytes: number): Promise<(Fetched | undefined)[]> {
    const found = known.get(topic) ?? (await partitionsOf(admin, [topic]))
    known.set(topic, found)
    const asked = spans.map(({ partition, start }) => ({ ...ledIn(found, topic, partition), next: start }))
    const { values } = requireReadable(await fetchFrom(admin, asked, { bytes, waitMs }))
    return asked.map((partition) => values.get(partitionKey(partition)))
  }

  /** Returns the next records of each span, and moves the span's `start`. */
  async function advance(admin: Admin, topic: string, spans: Span[]): Promise<LogRecord[][]> {
    const fetched = await fetch(admin, topic, spans, fetchBytes)
    const lost = spans.find((_, index) => fetched[index]?.isOutOfRange)
    const isStuck = spans.every(({ start }, index) => (fetched[index]?.next ?? start) === start)
    const missing = lost ?? (isStuck ? spans[0] : undefined)
    if (missing) {
      const what = `partition ${topic}/${missing.partition} did not return the record at the offset ${missing.start}`
      throw new LogError(what, { canRetry: !lost })
    }
    return spans.map((span, index) => {
      const { records = [], next = span.start } = fetched[index] ?? {}
      span.start = next
      return records.filter(({ offset }) => offset < span.end)
    })
  }

  async function* read(topic: string, spans: Span[]): AsyncGenerator<LogRecord[]> {
    const cursors = spans.map((span) => ({ ...span }))
    yield* mergeByTime(cursors, (empty) => patiently(`topic ${topic}`, (admin) => advance(admin, topic, empty)))
  }

  /**
   * Returns the offset after the last record of each partition that is earlier than a time.
   * @param spans begin at the first records that are not earlier. After the correction of a clock, earlier records may follow them
   */
  async function lastBefore(topic: string, moment: Date, spans: Span[]): Promise<Map<number, bigint>> {
    const last = new Map(spans.map(({ partition, start }) => [partition, start]))
    for await (const records of read(topic, spans)) {
      for (const { partition, offset, timestamp } of records)
        if (timestamp < moment.getTime()) last.set(partition, offset + 1n)
    }
    return last
  }

  return {
    topics: () =>
      patiently('the list of topics', async (admin) => [...(await partitionsOf(admin, null)).topics.keys()]),

    has: ({ topic, partition }) =>
      patiently(`topic ${topic}`, async (admin) => {
        if (known.get(topic)?.led.some((each) => each.partition === partition)) return true
        const found = await partitionsOf(admin, [topic])
        const [problem] = found.unreadable.filter((each) => each.partition === null)
        if (problem && noTopic.some((name) => protocolErrors(problem.cause).includes(name))) return false
        requireReadable({ unreadable: problem ? [problem] : [] })
        return partition >= 0 && partition < (found.topics.get(topic) ?? 0)
      }),

    async spans(topic, { from, to } = {}) {
      const find = (moment: Date | undefined) =>
        patiently(`topic ${topic}`, async (admin) => {
          const log = requireReadable(await describeLog(admin, [topic]))
          known.set(topic, log)
          return moment ? await since(admin, log.extents, moment) : log.extents
        })
      const starts = await find(from)
      if (!to) return starts.map(({ partition, start, end }) => ({ partition, start, end }))
      const ends = await lastBefore(topic, to, await find(to))
      return starts.map(({ partition, start, end }) => ({ partition, start, end: ends.get(partition) ?? end }))
    },

    read,

    async at({ topic, partition, offset }) {
      const span = { partition, start: BigInt(offset), end: BigInt(offset) + 1n }
      // With a limit of one byte, the broker returns only the batch that contains the record.
      const [found] = await patiently(`topic ${topic}`, (admin) => fetch(admin, topic, [span], 1))
      return found?.records.find((record) => record.offset === span.start)
    },
  }
}

function ledIn({ led, unreadable }: Partitions, topic: string, partition: number): LedPartition {
  const found = led.find((each) => each.partition === partition)
  if (found) return found
  requireReadable({ unreadable: unreadable.filter((each) => each.partition === null || each.partition === partition) })
  throw new LogError(`partition ${topic}/${partition} does not exist`)
}

/** Returns the extents from the first record at or after a time. A negative time would have other meanings, such as the end of the log. */
async function since(admin: Admin, extents: readonly Extent[], moment: Date): Promise<Extent[]> {
  const timestamp = BigInt(recordTime(moment.getTime()))
  const { values } = requireReadable(await offsetsAt(admin, extents, () => timestamp))
  return extents.map((extent) => {
    const offset = values.get(partitionKey(extent)) ?? -1n
    return { ...extent, start: offset < 0n ? extent.end : offset }
  })
}
