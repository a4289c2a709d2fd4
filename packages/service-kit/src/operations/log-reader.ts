import type { Place } from '../stream/record.ts'
import type { LogRecord } from './log-record.ts'

/** A part of one partition: from `start`, and not including `end`. */
export interface Span {
  partition: number
  start: bigint
  end: bigint
}

/** Moments between which records reached the log. Left out: from the oldest that it holds, to its end as it is now. */
export interface TimeRange {
  from?: Date | undefined
  to?: Date | undefined
}

/** The log as a plain Kafka client reads it: in no consumer group, leaving no trace. Failures are `OperationError`. */
export interface LogReader {
  topics(): Promise<string[]>
  /** Whether there is such a topic and partition, whatever it holds. */
  has(place: Place): Promise<boolean>
  /** Where a range begins and ends in each partition. */
  spans(topic: string, range?: TimeRange): Promise<Span[]>
  /** The records of the spans, those of all partitions together in the order of their timestamps, in chunks. */
  read(topic: string, spans: Span[]): AsyncGenerator<LogRecord[]>
  /** The record at a place; undefined when the log does not hold it (any more). */
  at(place: Place): Promise<LogRecord | undefined>
  close(): Promise<void>
}

/** The record at a place, of which nobody knows whether its topic and partition are there; undefined when the log does not hold it. */
export async function recordAt(log: LogReader, place: Place): Promise<LogRecord | undefined> {
  return (await log.has(place)) ? await log.at(place) : undefined
}
