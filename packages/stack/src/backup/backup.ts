import { join } from 'node:path'
import {
  type GroupPosition,
  groupPositions,
  type KafkaConnection,
  type LogReader,
  type LogRecord,
  openLog,
  withAdmin,
} from '@orderflow/kafka-log'
import { applicationName } from '../application/paths.ts'
import { CliError } from '../base/error.ts'
import { withLock } from '../base/lock.ts'
import { keptFor } from '../kafka/retention.ts'
import { isSame } from './copy.ts'
import { consistentParts, type Part, partsOf } from './cut.ts'
import {
  type Chunk,
  type Content,
  chunksOf,
  countBefore,
  readChunk,
  readContent,
  removeForgotten,
  requireComplete,
  saveRecords,
  writeContent,
} from './folder.ts'

type Log = Pick<LogReader, 'spans' | 'read' | 'at'>

interface LogTopics {
  /** The topics of events. Their dead letters are in `deadLetters`. */
  events: readonly string[]
  deadLetters: readonly string[]
}

interface BackupOptions extends LogTopics {
  kafka: KafkaConnection
  groups: readonly string[]
  tell: (line: string) => void
}

/**
 * Adds the records of the log that a folder does not yet have. An interrupted backup continues, and the last complete backup stays valid.
 * @throws {CliError} `usage` if the folder has records of another log
 */
export async function backUp(
  folder: string,
  { kafka, events, deadLetters, groups, tell }: BackupOptions,
): Promise<void> {
  const onWait = (pid: number) => tell(`waiting for process ${pid}, which writes to ${folder}`)
  await withLock(join(folder, 'lock'), { timeoutMs: 60_000, onWait }, async () => {
    const savedAt = new Date()
    // After a restore, services continue here. They handle again what they handle from now on.
    const positions = await withAdmin(kafka, (admin) => groupPositions(admin, groups))
    const retention = await keptFor(kafka, [...events, ...deadLetters])
    const log = openLog(kafka)
    try {
      const content = await saveLog(folder, { log, events, deadLetters }, { savedAt, retention, positions })
      for (const [topic, { partitions }] of Object.entries(content.topics)) {
        tell(`${topic}: ${partitions.reduce((sum, { records }) => sum + BigInt(records), 0n)} records`)
      }
    } finally {
      await log.close()
    }
  })
}

interface Moment {
  savedAt: Date
  /** The `retention.ms` of topics. */
  retention: ReadonlyMap<string, number>
  positions: readonly GroupPosition[]
}

/** Saves a consistent state of the log: it has the cause of each event that it has. */
export async function saveLog(
  folder: string,
  { log, events, deadLetters }: LogTopics & { log: Log },
  moment: Moment,
): Promise<Content> {
  // Dead letters and notes of replays name events, so their ends are read first.
  const dead = await partsOf(log, deadLetters)
  const parts = [...(await consistentParts(log, events)), ...dead]
  requireContinuable(folder, parts)
  for (const part of parts) await savePart(folder, log, part)
  const content = contentOf(folder, parts, moment)
  writeContent(folder, content)
  removeForgotten(folder, content)
  return content
}

/**
 * @throws {CliError} `usage` if the folder has the backup of another application or of topics with more partitions, `settings` if files are missing
 */
function requireContinuable(folder: string, parts: readonly Part[]): void {
  const last = readContent(folder)
  if (!last) return
  if (last.application !== applicationName) throw otherLog(`${folder} has a backup of ${last.application}`)
  requireComplete(folder, last)
  for (const [topic, own] of Map.groupBy(parts, (part) => part.topic)) {
    const saved = last.topics[topic]?.partitions.length ?? 0
    if (saved > own.length) throw otherLog(`${topic} has ${own.length} partitions, and ${saved} in the backup`)
  }
}

function otherLog(what: string): CliError {
  return new CliError('usage', `the backup has another log: ${what}`, {
    nextStep:
      'write this backup to a new folder. If Kafka has lost records, ./orderflow restore restores them from the old folder',
  })
}

async function savePart(folder: string, log: Log, part: Part): Promise<void> {
  const { topic, partition, start, end } = part
  const last = chunksOf(folder, topic, partition).at(-1)
  if (last) await requireSameLog(log, part, last)
  const next = last && last.last >= start ? last.last + 1n : start
  if (next >= end) return
  await saveRecords(folder, { topic, partition, source: log.read(topic, [{ partition, start: next, end }]) })
}

async function requireSameLog(log: Log, { topic, partition, end }: Part, chunk: Chunk): Promise<void> {
  const saved = readChunk(chunk, topic, partition).at(-1) as LogRecord
  const found = await log.at({ topic, partition, offset: String(chunk.last) })
  if (chunk.last < end && (!found || isSame(found, saved))) return
  throw otherLog(`${topic}/${partition} differs from ${chunk.file}`)
}

function contentOf(folder: string, parts: readonly Part[], { savedAt, retention, positions }: Moment): Content {
  const topics = Object.fromEntries(
    [...Map.groupBy(parts, ({ topic }) => topic)].map(([topic, own]) => [
      topic,
      { retentionMs: retention.get(topic) ?? -1, partitions: own.map((part) => partitionContent(folder, part)) },
    ]),
  )
  return {
    application: applicationName,
    savedAt: savedAt.toISOString(),
    topics,
    // A group keeps its positions in topics that services.json no longer declares. A restored log does not have these topics.
    positions: positions
      .filter(({ topic }) => topic in topics)
      .map(({ offset, ...position }) => ({ ...position, offset: String(offset) })),
  }
}

/** Leaves out records that the log has removed. Its first offset decides this, because clocks and times of records may be wrong. */
function partitionContent(folder: string, { topic, partition, start }: Part) {
  const chunks = chunksOf(folder, topic, partition)
  const saved = (chunks.at(-1)?.last ?? -1n) + 1n
  const end = saved > start ? saved : start
  const first = chunks.find(({ last }) => last >= start)?.first ?? end
  const from = first > start ? first : start
  const records = countBefore(chunks, end) - countBefore(chunks, from)
  return { start: String(from), end: String(end), records: String(records) }
}
