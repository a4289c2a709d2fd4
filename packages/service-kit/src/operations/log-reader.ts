import type { LogRecord } from '../stream/log/log-record.ts'
import type { RecordPosition } from '../stream/log/record.ts'

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
