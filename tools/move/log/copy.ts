import { CliError } from '@orderflow/cli'
import { headerOf, type LogReader, type LogRecord, positionText } from '@orderflow/service-kit/log'
import type { Offsets } from './offsets.ts'
import type { Change, Translated } from './translate.ts'

/** The new log. */
export interface TargetLog extends Pick<LogReader, 'spans' | 'at'> {
  /** Writes records to the end of a partition, in one batch. */
  append(topic: string, partition: number, records: readonly Translated[]): Promise<void>
}

export interface Counts {
  read: number
  written: number
  /** The number of records that an earlier, interrupted run wrote. */
  before: number
  changes: Record<Change, number>
}

export interface CopyOptions {
  from: Pick<LogReader, 'spans' | 'read'>
  to: TargetLog
  offsets: Offsets
  translate: (record: LogRecord) => Promise<Translated>
  /** Receives the counts after each batch. */
  onProgress: (counts: Readonly<Counts>) => void
}

/**
 * The bytes of a batch: less than `max.message.bytes` of event topics. A larger record is the only record of its batch, and may exceed this limit
 * during the move.
 */
const maxBatchBytes = 128 * 1024

/**
 * Copies a topic, partition by partition. A record keeps its partition, its time and its rank. So the number of records in a partition of the new log
 * shows where an interrupted run continues.
 * @throws {CliError} `usage` if the new log has records that are not from the old log
 */
export async function copyTopic(topic: string, options: CopyOptions): Promise<Counts> {
  const counts: Counts = { read: 0, written: 0, before: 0, changes: { ids: 0, signature: 0, 'no-envelope': 0 } }
  const [source, target] = [await options.from.spans(topic), await options.to.spans(topic)]
  if (source.length !== target.length) {
    throw new CliError(
      'usage',
      `${topic} has ${source.length} partitions in the old log and ${target.length} in the new log`,
      {
        nextStep: `write ${source.length} into partitions in services.json before the first make up, or run ./orderflow clean`,
      },
    )
  }
  for (const span of source) {
    const end = target.find(({ partition }) => partition === span.partition)?.end ?? 0n
    await copyPartition(topic, span, end, options, counts)
  }
  return counts
}

async function copyPartition(
  topic: string,
  span: Awaited<ReturnType<LogReader['spans']>>[number],
  end: bigint,
  { from, to, offsets, translate, onProgress }: CopyOptions,
  counts: Counts,
): Promise<void> {
  const { partition } = span
  /** The number of records that were read, and that the new log has. */
  let [rank, written] = [0n, end]
  let batch: Translated[] = []
  let bytes = 0

  async function flush(): Promise<void> {
    const [first] = batch
    if (!first) return
    await to.append(topic, partition, batch)
    // The first new record shows that the new log keeps the times of records.
    if (written === end) await requireSame(first, end)
    written += BigInt(batch.length)
    counts.written += batch.length
    batch = []
    bytes = 0
    onProgress(counts)
  }

  async function requireSame(expected: Translated, offset: bigint): Promise<void> {
    const position = { topic, partition, offset: String(offset) }
    const found = await to.at(position)
    // A retention may already have deleted the record, because it has its old time.
    if (!found || isSame(found, expected)) return
    throw otherRecords(`the record at ${positionText(position)} differs from the old log`)
  }

  for await (const records of from.read(topic, [span])) {
    for (const record of records) {
      offsets.add(record)
      const translated = await translate(record)
      for (const change of translated.changes) counts.changes[change] += 1
      counts.read += 1
      rank += 1n
      if (rank > end) {
        const size = sizeOf(translated)
        if (bytes + size > maxBatchBytes) await flush()
        batch.push(translated)
        bytes += size
        continue
      }
      counts.before += 1
      // The last record of an earlier run shows that the new log has the same records.
      if (rank === end) await requireSame(translated, rank - 1n)
    }
  }
  await flush()
  if (rank < end) throw otherRecords(`${topic}/${partition} has ${end} records, and the old log has ${rank}`)
}

function otherRecords(what: string): CliError {
  return new CliError('usage', `the new log has other records: ${what}`, {
    nextStep:
      'if the new application has only test data, run make down and ./orderflow clean in its folder, then begin again',
  })
}

function isSame(found: LogRecord, { key, value, headers, timestamp }: Translated): boolean {
  return (
    found.timestamp === timestamp &&
    found.value.equals(value) &&
    (key === undefined ? found.key === undefined : found.key?.equals(key) === true) &&
    headers.every(([name]) => headerOf(found, name.toString()) === headerOf({ headers }, name.toString()))
  )
}

/** An upper bound of a record's bytes in a batch. */
function sizeOf({ key, value, headers }: Translated): number {
  const texts = headers.flat()
  return texts.reduce((sum, text) => sum + text.length + 5, 50 + value.length + (key?.length ?? 0))
}

export function summaryOf(topic: string, { read, written, before, changes }: Counts): string {
  const details = [
    [before, 'were written by an earlier run'],
    [changes.ids, 'got the ids that version 0.1.0 derived'],
    [changes.signature, 'got a new signature'],
    [changes['no-envelope'], 'are not envelopes, and are unchanged'],
  ] as const
  const parts = details.filter(([count]) => count > 0).map(([count, text]) => `, ${count} ${text}`)
  return `${topic}: ${read} read, ${written} written${parts.join('')}`
}
