import {
  groupPositions,
  headerOf,
  type KafkaConnection,
  type LogRecord,
  openLog,
  parsePosition,
  positionText,
  type RecordPosition,
  withAdmin,
} from '@orderflow/kafka-log'
import { deadLetterHeaders, replayedFrom } from '@orderflow/service-kit/log'
import { type GroupLock, noteHeaders } from '@orderflow/service-kit/operations'
import { forever, keepFor } from '../kafka/retention.ts'
import { type CopiedRecord, checkTopic, copyTopic, isSame } from './copy.ts'
import { backupReader, type Chunk, type Content, chunksOf, countBefore, lastRecords } from './folder.ts'
import { keyOf, movePositions } from './groups.ts'
import { makeTopics, planTopics } from './restored-topics.ts'
import { openTarget, withCopyLock, withCopySettings } from './target.ts'

interface RestoreOptions {
  kafka: KafkaConnection
  tell: (line: string) => void
}

/**
 * Writes the records of a complete backup to empty topics, and gives consumer groups their positions. Each record keeps its partition, its order and
 * its time. An interrupted restore continues. After a complete one, the topics may have later records. Only one restore writes to a Kafka, on
 * whatever machine.
 * @throws {CliError} `usage` if the topics have other records; nothing is written then
 */
export async function restoreLog(folder: string, content: Content, { kafka, tell }: RestoreOptions): Promise<void> {
  const move = positionsIn(folder, content)
  await withCopyLock(kafka, tell, async (lock) => {
    if (await isRestored(folder, content, move, kafka)) return tell('the log is already restored')
    await writeLog(folder, content, move, { kafka, tell, lock })
  })
}

/** Returns true if consumer groups have positions, which a restore writes last, and the topics have the last records of the backup. */
async function isRestored(folder: string, content: Content, move: Positions, kafka: KafkaConnection): Promise<boolean> {
  const due = ownPositions(content)
  if (due.length === 0) return false
  const groups = [...new Set(due.map(({ group }) => group))]
  const known = new Set((await withAdmin(kafka, (admin) => groupPositions(admin, groups))).map(keyOf))
  if (!due.every((position) => known.has(keyOf(position)))) return false
  const log = openLog(kafka)
  try {
    for (const last of lastRecords(folder, content)) {
      const position = move.of({ topic: last.topic, partition: last.partition, offset: String(last.offset) })
      if (!(await log.has(position))) return false
      const span = (await log.spans(last.topic)).find(({ partition }) => partition === last.partition)
      if (!span || BigInt(position.offset) >= span.end) return false
      // The retention may have removed the record since the restore.
      const found = await log.at(position)
      if (found && !isSame(found, withPositions(last, move))) return false
    }
    return true
  } finally {
    await log.close()
  }
}

/** Leaves out the positions in topics that the backup does not have. */
const ownPositions = ({ topics, positions }: Content) => positions.filter(({ topic }) => topic in topics)

async function writeLog(
  folder: string,
  content: Content,
  move: Positions,
  { kafka, tell, lock }: RestoreOptions & { lock: GroupLock },
): Promise<void> {
  const names = Object.keys(content.topics)
  const translate = (record: LogRecord) => withPositions(record, move)
  const target = await openTarget(kafka, lock)
  const copy = { from: backupReader(folder, content), to: target, translate }
  try {
    const plan = await planTopics(kafka, content)
    // All topics are checked before any of them is written.
    let largest = 0
    for (const name of names)
      largest = Math.max(largest, await checkTopic(name, plan.ends.get(name) ?? new Map(), copy))
    await makeTopics(kafka, plan)
    // Before records arrive, because segments limit how late Kafka removes them.
    for (const [topic, { retentionMs }] of Object.entries(content.topics)) {
      if (retentionMs !== forever) await keepFor(kafka, [topic], retentionMs)
    }
    await withCopySettings(kafka, { topics: names, largest }, async () => {
      for (const topic of names) {
        const { read, before } = await copyTopic(topic, { ...copy, onProgress: () => {} })
        tell(`${topic}: ${read} records restored${before > 0 ? `, ${before} of them by an earlier run` : ''}`)
      }
    })
  } finally {
    await target.close()
  }
  await lock.requireHeld()
  await movePositions(
    kafka,
    ownPositions(content).map((each) => ({ ...each, offset: move.before(each) })),
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
