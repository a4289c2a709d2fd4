import { join } from 'node:path'
import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import type { LogReader, LogRecord } from '@orderflow/service-kit/log'
import { openLog } from '@orderflow/service-kit/operations'
import { keptFor } from '../kafka/retention.ts'
import { CliError } from '../lib/error.ts'
import { withLock } from '../lib/lock.ts'
import { applicationName } from '../lib/paths.ts'
import { isSame } from './copy.ts'
import { consistentParts, type Part, partsOf } from './cut.ts'
import {
  type Chunk,
  type Content,
  chunksOf,
  countBefore,
  readChunk,
  removeExpired,
  saveRecords,
  writeContent,
} from './folder.ts'
import { type GroupPosition, groupPositions } from './groups.ts'

type Log = Pick<LogReader, 'spans' | 'read' | 'at'>

interface LogTopics {
  /** The topics of events. Their dead letters are in `deadLetters`. */
  events: readonly string[]
  deadLetters: readonly string[]
}

export interface BackupOptions extends LogTopics {
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
    const positions = await groupPositions(kafka, [...groups])
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
  for (const part of parts) await savePart(folder, log, part)
  const content = contentOf(folder, parts, moment)
  writeContent(folder, content)
  removeExpired(folder, content)
  return content
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
  throw new CliError('usage', `the backup has another log: ${topic}/${partition} differs from ${chunk.file}`, {
    nextStep:
      'write this backup to a new folder. If Kafka has lost records, ./orderflow restore restores them from the old folder',
  })
}

function contentOf(folder: string, parts: readonly Part[], { savedAt, retention, positions }: Moment): Content {
  const topics = [...Map.groupBy(parts, ({ topic }) => topic)].map(([topic, own]) => {
    const retentionMs = retention.get(topic) ?? -1
    const oldest = retentionMs < 0 ? undefined : savedAt.getTime() - retentionMs
    return [topic, { retentionMs, partitions: own.map((part) => partitionContent(folder, part, oldest)) }] as const
  })
  return {
    application: applicationName,
    savedAt: savedAt.toISOString(),
    topics: Object.fromEntries(topics),
    positions: positions.map(({ offset, ...position }) => ({ ...position, offset: String(offset) })),
  }
}

/** @param oldest the time from which the topic keeps records; undefined if it keeps all */
function partitionContent(folder: string, { topic, partition, start }: Part, oldest: number | undefined) {
  const chunks = chunksOf(folder, topic, partition)
  const isKept = (chunk: Chunk) => (readChunk(chunk, topic, partition).at(-1)?.timestamp ?? 0) >= (oldest ?? 0)
  const last = chunks.at(-1)
  const end = last ? last.last + 1n : start
  const first = (oldest === undefined ? chunks[0] : chunks.find(isKept))?.first ?? end
  const records = countBefore(chunks, end) - countBefore(chunks, first)
  return { start: String(first), end: String(end), records: String(records) }
}
