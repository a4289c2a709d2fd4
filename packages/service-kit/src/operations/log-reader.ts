import type { LogRecord } from '../stream/log-record.ts'
import { positionText, type RecordPosition } from '../stream/record.ts'

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

/** Reads the log with a plain Kafka client, without a consumer group. Methods throw `OperationError`. */
export interface LogReader {
  topics(): Promise<string[]>
  has(position: RecordPosition): Promise<boolean>
  spans(topic: string, range?: TimeRange): Promise<Span[]>
  /** Reads the records of the spans in chunks. Records of different partitions are merged by timestamp. */
  read(topic: string, spans: Span[]): AsyncGenerator<LogRecord[]>
  at(position: RecordPosition): Promise<LogRecord | undefined>
  close(): Promise<void>
}

/** Returns the record at a position; undefined if the record, its partition or its topic does not exist. */
export async function recordAt(log: LogReader, position: RecordPosition): Promise<LogRecord | undefined> {
  return (await log.has(position)) ? await log.at(position) : undefined
}

/** Returns a header's value as text. If the header is repeated, the last value applies, as in the sidecar. */
export function headerOf({ headers }: Pick<LogRecord, 'headers'>, name: string): string | undefined {
  return headers.findLast(([key]) => key.toString() === name)?.[1].toString()
}

export function positionOfRecord({ topic, partition, offset }: LogRecord): RecordPosition {
  return { topic, partition, offset: String(offset) }
}

export const whereIs = (record: LogRecord): string => positionText(positionOfRecord(record))

interface Cursor {
  start: bigint
  end: bigint
}

/**
 * Merges partitions by the timestamps of their records, and keeps the order within each partition. After a clock was ahead, the times of a partition
 * continue from its latest one. Otherwise the later records of one partition would all come before those of another.
 * @param fetch returns the next records of each cursor and moves the cursor's `start`; at least one cursor must move
 */
export async function* mergeByTime<C extends Cursor, T extends { timestamp: number }>(
  cursors: C[],
  fetch: (empty: C[]) => Promise<T[][]>,
): AsyncGenerator<T[]> {
  const sources = cursors.map((cursor) => ({ cursor, waiting: [] as T[], next: 0, clock: createMergeClock() }))
  const isDry = (source: (typeof sources)[number]) => source.next === source.waiting.length
  const isOpen = ({ cursor }: (typeof sources)[number]) => cursor.start < cursor.end

  for (;;) {
    const empty = sources.filter((source) => isDry(source) && isOpen(source))
    if (empty.length > 0) {
      const fetched = await fetch(empty.map(({ cursor }) => cursor))
      for (const [index, source] of empty.entries()) {
        source.waiting = fetched[index] ?? []
        source.next = 0
      }
    }
    const chunk: T[] = []
    for (;;) {
      if (sources.some((source) => isDry(source) && isOpen(source))) break
      const full = sources.filter((source) => !isDry(source))
      if (full.length === 0) break
      const first = full.reduce((a, b) => (timeOf(b) < timeOf(a) ? b : a))
      first.clock.pass(timestampOf(first))
      chunk.push(first.waiting[first.next] as T)
      first.next += 1
    }
    if (chunk.length > 0) yield chunk
    else if (!sources.some(isOpen)) return
  }

  function timestampOf({ waiting, next }: (typeof sources)[number]): number {
    return waiting[next]?.timestamp ?? 0
  }
  function timeOf(source: (typeof sources)[number]): number {
    return source.clock.timeOf(timestampOf(source))
  }
}

/** Creates the clock of a partition, whose time never goes back. While timestamps are below it, it moves on by their differences. */
function createMergeClock() {
  let latest = Number.NEGATIVE_INFINITY
  let ahead = 0
  const timeOf = (timestamp: number) =>
    timestamp >= latest ? timestamp : Math.max(latest, timestamp + (ahead || latest - timestamp))
  return {
    timeOf,
    pass(timestamp: number): void {
      const time = timeOf(timestamp)
      ahead = timestamp >= latest ? 0 : ahead || time - timestamp
      latest = time
    },
  }
}
