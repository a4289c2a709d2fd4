import {
  headerOf,
  type LogReader,
  type LogRecord,
  positionText,
  type RecordPosition,
  type Span,
} from '@orderflow/kafka-log'
import { CliError } from '../base/error.ts'

/** A record to write. It keeps the time of the original. */
export type CopiedRecord = Pick<LogRecord, 'key' | 'value' | 'headers' | 'timestamp'>

/** The log that receives the copies. */
export interface TargetLog extends Pick<LogReader, 'spans' | 'at'> {
  /**
   * Writes records to the end of a partition, in one batch.
   * @param offset the offset of the first new record
   * @throws if another process also writes to the partition
   */
  append(topic: string, partition: number, records: readonly CopiedRecord[], offset: bigint): Promise<void>
}

export interface Counts {
  read: number
  written: number
  /** The number of records that an earlier, interrupted run wrote. */
  before: number
}

interface CopyOptions {
  from: Pick<LogReader, 'spans' | 'read'>
  to: TargetLog
  translate: (record: LogRecord) => Promise<CopiedRecord> | CopiedRecord
  /** Receives the counts after each batch. */
  onProgress: (counts: Readonly<Counts>) => void
}

/**
 * The bytes of a batch: less than `max.message.bytes` of event topics. A larger record is the only record of its batch, and may exceed this limit
 * during the copy.
 */
const maxBatchBytes = 128 * 1024

/**
 * Copies a topic, partition by partition. A record keeps its partition, its time and its rank. So the number of records in a partition of the new log
 * shows where an interrupted run continues.
 * @throws {CliError} `usage` if the new log has records that are not from the old log
 */
export async function copyTopic(topic: string, options: CopyOptions): Promise<Counts> {
  const counts: Counts = { read: 0, written: 0, before: 0 }
  const [source, target] = [await options.from.spans(topic), await options.to.spans(topic)]
  requirePartitions(topic, source, target)
  for (const span of source) {
    const end = target.find(({ partition }) => partition === span.partition)?.end ?? 0n
    await copyPartition(topic, span, end, options, counts)
  }
  return counts
}

/**
 * Checks that a log can receive the copies of a topic, before anything is written to any topic. Reads all records, so it also finds damaged files.
 * @param ends the ends of the partitions of the new log; a missing partition is empty
 * @returns an upper bound of the bytes of the largest copy
 * @throws {CliError} `usage` if the new log has records that are not from the old log
 */
export async function checkTopic(
  topic: string,
  ends: ReadonlyMap<number, bigint>,
  options: Omit<CopyOptions, 'onProgress'>,
): Promise<number> {
  let largest = 0
  for (const span of await options.from.spans(topic)) {
    for await (const { copied } of copiesOf(topic, span, ends.get(span.partition) ?? 0n, options))
      largest = Math.max(largest, sizeOf(copied))
  }
  return largest
}

/** @throws {CliError} `usage` if a topic has different numbers of partitions in both logs */
export function requirePartitions(topic: string, source: readonly unknown[], target: readonly unknown[]): void {
  if (source.length === target.length) return
  throw new CliError(
    'usage',
    `${topic} has ${source.length} partitions in the old log and ${target.length} in the new log`,
    {
      nextStep: `write ${source.length} into partitions in services.json before the first make up, or run ./orderflow clean`,
    },
  )
}

/**
 * Returns the copies of a partition's records. Checks that an earlier run wrote the first ones.
 * @param end the number of records that the new log has
 */
async function* copiesOf(
  topic: string,
  span: Span,
  end: bigint,
  { from, to, translate }: Omit<CopyOptions, 'onProgress'>,
): AsyncGenerator<{ copied: CopiedRecord; isNew: boolean }> {
  const { partition } = span
  let rank = 0n
  for await (const records of from.read(topic, [span])) {
    for (const record of records) {
      const copied = await translate(record)
      rank += 1n
      // The last record of an earlier run shows that the new log has the same records.
      if (rank === end) await requireSame(to, copied, { topic, partition, offset: String(rank - 1n) })
      yield { copied, isNew: rank > end }
    }
  }
  if (rank < end) throw otherRecords(`${topic}/${partition} has ${end} records, and the old log has ${rank}`)
}

async function copyPartition(
  topic: string,
  span: Span,
  end: bigint,
  options: CopyOptions,
  counts: Counts,
): Promise<void> {
  const { partition } = span
  /** The number of records that the new log has. */
  let written = end
  let batch: CopiedRecord[] = []
  let bytes = 0

  async function flush(): Promise<void> {
    const [first] = batch
    if (!first) return
    await options.to.append(topic, partition, batch, written)
    // The first new record shows that the new log keeps the times of records.
    if (written === end) await requireSame(options.to, first, { topic, partition, offset: String(end) })
    written += BigInt(batch.length)
    counts.written += batch.length
    batch = []
    bytes = 0
    options.onProgress(counts)
  }

  for await (const { copied, isNew } of copiesOf(topic, span, end, options)) {
    counts.read += 1
    if (!isNew) {
      counts.before += 1
      continue
    }
    const size = sizeOf(copied)
    if (bytes + size > maxBatchBytes) await flush()
    batch.push(copied)
    bytes += size
  }
  await flush()
}

async function requireSame(to: TargetLog, expected: CopiedRecord, position: RecordPosition): Promise<void> {
  const found = await to.at(position)
  // A retention may already have deleted the record, because it has its old time.
  if (!found || isSame(found, expected)) return
  throw otherRecords(`the record at ${positionText(position)} differs from the old log`)
}

function otherRecords(what: string): CliError {
  return new CliError('usage', `the new log has other records: ${what}`, {
    nextStep:
      'if the new application has only test data, run make down and ./orderflow clean in its folder, then begin again',
  })
}

/** Returns true if a record of a log has the content of `expected`. */
export function isSame(found: LogRecord, { key, value, headers, timestamp }: CopiedRecord): boolean {
  return (
    found.timestamp === timestamp &&
    found.value.equals(value) &&
    (key === undefined ? found.key === undefined : found.key?.equals(key) === true) &&
    headers.every(([name]) => headerOf(found, name.toString()) === headerOf({ headers }, name.toString()))
  )
}

/** An upper bound of a record's bytes in a batch. */
export function sizeOf({ key, value, headers }: CopiedRecord): number {
  const texts = headers.flat()
  return texts.reduce((sum, text) => sum + text.length + 5, 50 + value.length + (key?.length ?? 0))
}
