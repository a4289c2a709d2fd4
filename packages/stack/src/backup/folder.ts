import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { GroupPosition, LogReader, LogRecord } from '@orderflow/kafka-log'
import { CliError } from '../base/error.ts'
import { diskFullError, isDiskFull, removeUnfinished, replaceFile } from '../base/files.ts'
import { sizeOf } from './copy.ts'

// A backup is a folder:
//
//   backup.json                                  the content of the backup (`Content`)
//   <topic>/<partition>/<first>-<last>.jsonl.gz  the records with these offsets, a line each, without gaps
//
// Records arrive in files first. They belong to the backup when `backup.json` names their offsets.

export interface Content {
  application: string
  /** The time of the backup, in ISO 8601. */
  savedAt: string
  topics: Record<string, TopicContent>
  /** Offsets are decimal strings, because they have 64 bits. */
  positions: (Omit<GroupPosition, 'offset'> & { offset: string })[]
}

interface TopicContent {
  /** The topic's `retention.ms`; -1 means for ever. */
  retentionMs: number
  partitions: PartitionContent[]
}

interface PartitionContent {
  /** The offset of the first record. */
  start: string
  /** The offset after the last record. */
  end: string
  /** The number of records. It shows whether files are missing. */
  records: string
}

/** A file of records. */
export interface Chunk {
  file: string
  first: bigint
  last: bigint
}

const contentFile = (folder: string) => join(folder, 'backup.json')

/** Returns undefined for a folder without a complete backup. */
export function readContent(folder: string): Content | undefined {
  const file = contentFile(folder)
  if (!existsSync(file)) return undefined
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Content
  } catch (cause) {
    throw damaged(file, (cause as Error).message, cause)
  }
}

export function writeContent(folder: string, content: Content): void {
  replaceFile(contentFile(folder), `${JSON.stringify(content, undefined, 2)}\n`, 0o600)
}

export function damaged(file: string, problem: string, cause?: unknown): CliError {
  const nextStep = 'use another backup. This one cannot be restored completely'
  return new CliError('settings', `${file} is damaged: ${problem}`, { nextStep, cause })
}

const partitionFolder = (folder: string, topic: string, partition: number) => join(folder, topic, String(partition))

/** Returns the files of a partition by offset. Leaves out a file whose records an interrupted run also wrote to a larger one. */
export function chunksOf(folder: string, topic: string, partition: number): Chunk[] {
  const own = partitionFolder(folder, topic, partition)
  if (!existsSync(own)) return []
  const all = readdirSync(own).flatMap((name): Chunk[] => {
    const [, first, last] = /^(\d+)-(\d+)\.jsonl\.gz$/.exec(name) ?? []
    if (first === undefined || last === undefined) return []
    return [{ file: join(own, name), first: BigInt(first), last: BigInt(last) }]
  })
  const sorted = all.toSorted((a, b) => Number(a.first - b.first) || Number(b.last - a.last))
  let end = -1n
  return sorted.filter(({ last }) => {
    const isNew = last > end
    if (isNew) end = last
    return isNew
  })
}

/** A record in JSON. Bytes are in Base64, because a publisher may send bytes that are not text. */
interface Line {
  offset: string
  time: number
  key?: string
  value: string
  headers: [name: string, value: string][]
}

/** @throws {CliError} `settings` for a damaged file */
export function readChunk({ file, first, last }: Chunk, topic: string, partition: number): LogRecord[] {
  try {
    const lines = gunzipSync(readFileSync(file)).toString().trimEnd().split('\n')
    const records = lines.map((text): LogRecord => {
      const { offset, time: timestamp, key, value, headers } = JSON.parse(text) as Line
      return {
        ...{ topic, partition, timestamp, appendedAt: Number.NaN },
        offset: BigInt(offset),
        key: key === undefined ? undefined : bytes(key),
        value: bytes(value),
        headers: headers.map(([name, text]) => [bytes(name), bytes(text)]),
      }
    })
    if (records.every(({ offset }, index) => offset === first + BigInt(index)) && records.at(-1)?.offset === last)
      return records
  } catch (cause) {
    throw damaged(file, (cause as Error).message, cause)
  }
  throw damaged(file, `it does not have exactly the records ${first} to ${last}`)
}

const bytes = (text: string) => Buffer.from(text, 'base64')

function textOf({ offset, timestamp: time, key, value, headers }: LogRecord): string {
  const line: Line = {
    offset: String(offset),
    time,
    ...(key !== undefined && { key: key.toString('base64') }),
    value: value.toString('base64'),
    headers: headers.map(([name, text]) => [name.toString('base64'), text.toString('base64')]),
  }
  return `${JSON.stringify(line)}\n`
}

/** Writes records without a gap between their offsets to a file. Returns the file. */
function writeChunk(folder: string, records: readonly LogRecord[]): Chunk {
  const [head, tail] = [records[0], records.at(-1)] as [LogRecord, LogRecord]
  const own = partitionFolder(folder, head.topic, head.partition)
  const [first, last] = [head.offset, tail.offset]
  const name = (offset: bigint) => String(offset).padStart(20, '0')
  const file = join(own, `${name(first)}-${name(last)}.jsonl.gz`)
  const temporary = `${file}.${process.pid}.new`
  try {
    mkdirSync(own, { recursive: true, mode: 0o700 })
    removeUnfinished(own)
    writeFileSync(temporary, gzipSync(records.map(textOf).join('')), { mode: 0o600, flush: true })
    renameSync(temporary, file)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw isDiskFull(error) ? diskFullError(file, error) : error
  }
  return { file, first, last }
}

/** The size of a file before compression at which the next file begins, in bytes. */
const chunkBytes = 8 * 1024 * 1024

/** Adds records to a partition of the backup. Continues its last file, so that many small backups do not become many small files. */
export async function saveRecords(
  folder: string,
  { topic, partition, source }: { topic: string; partition: number; source: AsyncIterable<LogRecord[]> },
): Promise<void> {
  let continued = chunksOf(folder, topic, partition).at(-1)
  let waiting = continued ? readChunk(continued, topic, partition) : []
  let size = waiting.reduce((sum, record) => sum + sizeOf(record), 0)

  function flush(): void {
    const end = waiting.at(-1)?.offset
    if (end !== undefined && end !== continued?.last) {
      writeChunk(folder, waiting)
      if (continued) rmSync(continued.file)
    }
    waiting = []
    size = 0
    continued = undefined
  }

  for await (const records of source) {
    for (const record of records) {
      const previous = waiting.at(-1)?.offset ?? record.offset - 1n
      if (size >= chunkBytes || previous + 1n !== record.offset) flush()
      waiting.push(record)
      size += sizeOf(record)
    }
  }
  flush()
}

/** Reads the records of a complete backup, as from a log. */
export function backupReader(folder: string, { topics }: Content): Pick<LogReader, 'spans' | 'read'> {
  return {
    async spans(topic) {
      const { partitions = [] } = topics[topic] ?? {}
      return partitions.map(({ start, end }, partition) => ({ partition, start: BigInt(start), end: BigInt(end) }))
    },
    async *read(topic, spans) {
      for (const { partition, start, end } of spans) {
        for (const chunk of chunksOf(folder, topic, partition)) {
          if (chunk.last < start || chunk.first >= end) continue
          yield readChunk(chunk, topic, partition).filter(({ offset }) => offset >= start && offset < end)
        }
      }
    },
  }
}

/** Returns the last record of each partition that has records. */
export function lastRecords(folder: string, { topics }: Content): LogRecord[] {
  return Object.entries(topics).flatMap(([topic, { partitions }]) =>
    partitions.flatMap(({ start, end }, partition) => {
      const last = chunksOf(folder, topic, partition).findLast(({ first }) => first < BigInt(end))
      if (!last || last.last < BigInt(start)) return []
      return readChunk(last, topic, partition).findLast(({ offset }) => offset < BigInt(end)) ?? []
    }),
  )
}

/** Returns the number of records before an offset. */
export function countBefore(chunks: readonly Chunk[], offset: bigint): bigint {
  return chunks.reduce((sum, { first, last }) => {
    const past = last < offset ? last + 1n : offset
    return past > first ? sum + past - first : sum
  }, 0n)
}

/** @throws {CliError} `settings` if files are missing */
export function requireComplete(folder: string, { topics }: Content): void {
  for (const [topic, { partitions }] of Object.entries(topics)) {
    for (const [partition, { start, end, records }] of partitions.entries()) {
      const chunks = chunksOf(folder, topic, partition)
      const found = countBefore(chunks, BigInt(end)) - countBefore(chunks, BigInt(start))
      if (String(found) !== records) {
        throw damaged(partitionFolder(folder, topic, partition), `it has ${found} records instead of ${records}`)
      }
    }
  }
}

/**
 * Removes all records that the content leaves out, so that a backup forgets customers when Kafka does. These are records that the log has removed,
 * records of topics that services.json no longer declares, and leftovers of interrupted runs. A kill at any step leaves a complete backup: a file is
 * removed after its newer records are in another file.
 */
export function removeForgotten(folder: string, { topics }: Content): void {
  for (const topic of foldersIn(folder)) {
    for (const name of foldersIn(join(folder, topic)).filter((each) => /^\d+$/.test(each))) {
      const start = topics[topic]?.partitions[Number(name)]?.start
      const kept = start === undefined ? [] : keepFrom(folder, topic, Number(name), BigInt(start))
      const own = join(folder, topic, name)
      const all = readdirSync(own).filter((each) => /^\d+-\d+\.jsonl\.gz(\.\d+\.new)?$/.test(each))
      for (const file of all.map((each) => join(own, each))) if (!kept.includes(file)) rmSync(file)
    }
  }
}

const foldersIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))

/** Returns the files with the records from an offset on. Writes a file again without its older records. */
function keepFrom(folder: string, topic: string, partition: number, start: bigint): string[] {
  return chunksOf(folder, topic, partition).flatMap((chunk) => {
    if (chunk.last < start) return []
    if (chunk.first >= start) return [chunk.file]
    const records = readChunk(chunk, topic, partition).filter(({ offset }) => offset >= start)
    return [writeChunk(folder, records).file]
  })
}
