import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import {
  deadLetterHeaders,
  headerOf,
  type LogRecord,
  parsePosition,
  positionText,
  type RecordPosition,
  recordAt,
  replayedFrom,
} from '@orderflow/service-kit/log'
import { noteHeaders, openLog } from '@orderflow/service-kit/operations'
import { forever, keepFor } from '../kafka/retention.ts'
import { type CopiedRecord, copyTopic, isSame } from './copy.ts'
import { backupReader, type Chunk, type Content, chunksOf, countBefore, lastRecords } from './folder.ts'
import { groupPositions, movePositions } from './groups.ts'
import { openTarget, withCopySettings } from './target.ts'

interface RestoreOptions {
  kafka: KafkaConnection
  tell: (line: string) => void
}

/**
 * Writes the records of a complete backup to empty topics, and gives consumer groups their positions. Each record keeps its partition, its order and
 * its time. An interrupted restore continues. After a complete one, the topics may have later records.
 * @throws {CliError} `usage` if the topics have other records
 */
export async function restoreLog(folder: string, content: Content, options: RestoreOptions): Promise<void> {
  const move = positionsIn(folder, content)
  if (await isRestored(folder, content, move, options.kafka)) return options.tell('the log is already restored')
  await writeLog(folder, content, move, options)
}

/** Returns true if consumer groups have positions, which a restore writes last, and the topics have the last records of the backup. */
async function isRestored(folder: string, content: Content, move: Positions, kafka: KafkaConnection): Promise<boolean> {
  const groups = [...new Set(content.positions.map(({ group }) => group))]
  if (groups.length === 0 || (await groupPositions(kafka, groups)).length < content.positions.length) return false
  const log = openLog(kafka)
  try {
    for (const last of lastRecords(folder, content)) {
      const position = { topic: last.topic, partition: last.partition, offset: String(last.offset) }
      const found = await recordAt(log, move.of(position))
      if (!found || !isSame(found, withPositions(last, move))) return false
    }
    return true
  } finally {
    await log.close()
  }
}

async function writeLog(
  folder: string,
  content: Content,
  move: Positions,
  { kafka, tell }: RestoreOptions,
): Promise<void> {
  const names = Object.keys(content.topics)
  const translate = (record: LogRecord) => withPositions(record, move)
  const target = await openTarget(kafka)
  const from = backupReader(folder, content)
  try {
    await withCopySettings(kafka, names, async () => {
      for (const topic of names) {
        const { read, before } = await copyTopic(topic, { from, to: target, translate, onProgress: () => {} })
        tell(`${topic}: ${read} records restored${before > 0 ? `, ${before} of them by an earlier run` : ''}`)
      }
    })
  } finally {
    await target.close()
  }
  for (const [topic, { retentionMs }] of Object.entries(content.topics)) {
    if (retentionMs !== forever) await keepFor(kafka, [topic], retentionMs)
  }
  await movePositions(
    kafka,
    content.positions.map(({ offset, ...position }) => ({ ...position, offset: move.before({ ...position, offset }) })),
  )
}

/** Maps positions of the old log to those of the restored log, in which each partition begins at 0 and has no gaps. */
interface Positions {
  /** Returns the number of records before a position. */
  before: (position: RecordPosition) => bigint
  /** Returns the new position of a record. A record that the backup does not have keeps its position. */
  of: (position: RecordPosition) => RecordPosition
}

export function positionsIn(folder: string, { topics }: Content): Positions {
  const all = Object.entries(topics).flatMap(([topic, { partitions }]) =>
    partitions.map((content, partition): [string, Chunk[]] => {
      const [start, end] = [BigInt(content.start), BigInt(content.end)]
      const kept = chunksOf(folder, topic, partition).filter(({ first, last }) => last >= start && first < end)
      // An interrupted backup may leave older and newer records in the files.
      const clipped = kept.map(({ file, first, last }) => ({
        ...{ file, first: first > start ? first : start, last: last < end ? last : end - 1n },
      }))
      return [`${topic}/${partition}`, clipped]
    }),
  )
  const chunks = new Map(all)
  const chunksAt = ({ topic, partition }: RecordPosition) => chunks.get(`${topic}/${partition}`) ?? []
  const before = (position: RecordPosition) => countBefore(chunksAt(position), BigInt(position.offset))
  return {
    before,
    of: (position) => {
      const offset = BigInt(position.offset)
      const isKept = chunksAt(position).some(({ first, last }) => first <= offset && offset <= last)
      return isKept ? { ...position, offset: String(before(position)) } : position
    },
  }
}

/** The headers with a position as text. */
const positionHeaders = [replayedFrom, deadLetterHeaders.replayed, noteHeaders.of, noteHeaders.as]

/** Changes the positions that replays, dead letters and their notes name. */
export function withPositions(record: LogRecord, move: Positions): CopiedRecord {
  const moved = new Map<string, string>()
  for (const name of positionHeaders) {
    const position = parsePosition(headerOf(record, name))
    if (position) moved.set(name, positionText(move.of(position)))
  }
  const { topic, partition, offset } = deadLetterHeaders
  const failed = parsePosition([topic, partition, offset].map((name) => headerOf(record, name)).join('/'))
  if (failed) moved.set(offset, move.of(failed).offset)
  const headers = record.headers.map(([name, text]): [Buffer, Buffer] => [
    name,
    Buffer.from(moved.get(name.toString()) ?? text),
  ])
  return { ...record, headers }
}
