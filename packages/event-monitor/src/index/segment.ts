import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { guidSchema } from './guid-runs.ts'
import type { Position } from './record.ts'
import { transaction } from './sqlite.ts'

/**
 * A segment is one file of SQLite: so many events, and how far the log was read when they were written, in the same transaction. Whatever
 * kills the monitor, rows and offsets are of one moment.
 *
 * `parts` are partitions of topics, `next` the first offset that is not in the index. `at` is in milliseconds since 1970, `slot` the place
 * in the block, `subject` the hash of what the event is about (ingest/examine.ts). `counts` has a row for each kind and each `bucketMs` in which an event of it arrived.
 */
const schema = `
CREATE TABLE parts (id INTEGER PRIMARY KEY, topic TEXT NOT NULL, partition INTEGER NOT NULL, topicId TEXT NOT NULL, next INTEGER NOT NULL,
  UNIQUE (topic, partition)) STRICT;
CREATE TABLE kinds (id INTEGER PRIMARY KEY, body TEXT NOT NULL, count INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL) STRICT;
CREATE TABLE events (seq INTEGER PRIMARY KEY, part INTEGER NOT NULL REFERENCES parts, offset INTEGER NOT NULL, at INTEGER NOT NULL,
  kind INTEGER NOT NULL REFERENCES kinds, block INTEGER NOT NULL, slot INTEGER NOT NULL, bytes INTEGER NOT NULL, subject INTEGER) STRICT;
CREATE INDEX byOffset ON events (part, offset);
CREATE INDEX byKind ON events (kind);
CREATE TABLE blocks (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
${guidSchema}
CREATE TABLE counts (bucket INTEGER NOT NULL, kind INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (bucket, kind)) STRICT, WITHOUT ROWID;
CREATE TABLE gaps (topic TEXT NOT NULL, partition INTEGER NOT NULL, start INTEGER NOT NULL, next INTEGER NOT NULL, at INTEGER NOT NULL,
  why TEXT NOT NULL) STRICT;
CREATE TABLE facts (firstSeq INTEGER NOT NULL, openedAt INTEGER NOT NULL) STRICT;
PRAGMA user_version = 4;
`

/** Events are counted by this: a rate of ten minutes has 120 of them. */
export const bucketMs = 5_000

/**
 * A segment of another version is removed, and the monitor reads its events from the log again. Version 1 has ids of positions, and could
 * store events under the kind of other events after the disk was full. Version 2 compresses with
 * another dictionary. Version 3 calls offsets places, and replay notes resend notes.
 */
const version = 4

/**
 * Whoever closes a file last, or opens it first after a kill, has it alone for a moment. The other thread waits for that, and so does a monitor that
 * starts while the one before it ends: the default is to fail at once.
 */
export const lockTimeoutMs = 10_000
/** https://www.sqlite.org/rescode.html: SQLITE_CORRUPT and SQLITE_NOTADB. */
const damaged = new Set([11, 26])

/** A segment that is written. A new one is created with its schema, its facts and its positions in one transaction. */
export function openForWriting(
  file: string,
  { firstSeq, now, positions }: { firstSeq: number; now: number; positions: readonly Position[] },
): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: lockTimeoutMs })
  try {
    // Not FULL: a machine that loses power loses the newest rows together with their offsets, and they are read again.
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -4000;
    PRAGMA wal_autocheckpoint = 4000; PRAGMA temp_store = MEMORY;`)
    if (versionOf(database) === 0) {
      transaction(database, () => {
        database.exec(schema)
        database.prepare('INSERT INTO facts VALUES (?, ?)').run(firstSeq, now)
        const part = database.prepare('INSERT INTO parts (topic, partition, topicId, next) VALUES (?, ?, ?, ?)')
        for (const { topic, partition, topicId, next } of positions) part.run(topic, partition, topicId, next)
      })
    }
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** A segment that is read, by another thread than the one that writes it. */
export function openForReading(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { readOnly: true, timeout: lockTimeoutMs })
  database.exec('PRAGMA cache_size = -500; PRAGMA query_only = ON;')
  return database
}

/**
 * Whether a file is a segment of today's form.
 * @throws {Error} when that cannot be known, since it cannot be read
 */
export function isSegment(file: string): boolean {
  const database = new DatabaseSync(file, { timeout: lockTimeoutMs })
  try {
    return versionOf(database) === version
  } catch (error) {
    if (damaged.has((error as { errcode?: number }).errcode ?? 0)) return false
    throw error
  } finally {
    database.close()
  }
}

function versionOf(database: DatabaseSync): number {
  return Number((database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version)
}

/** Events, and what stands on topics of dead letters, which are few and kept longer. */
export type SeriesName = 'events' | 'dead'

/** A segment as others know it. */
export interface SegmentFacts {
  file: string
  firstSeq: number
  count: number
  /** The highest number of its events; below `firstSeq` without any. Both series take numbers from one row of them. */
  lastSeq: number
  /** When its oldest and newest records reached the log; 0 without any. */
  first: number
  last: number
}

const nameOf = (series: SeriesName, firstSeq: number) => `${series}-${String(firstSeq).padStart(15, '0')}.sqlite`
export const segmentFile = (folder: string, series: SeriesName, firstSeq: number): string =>
  join(folder, nameOf(series, firstSeq))

/** The segments that a folder has, the oldest first. What is none, or of another form than today's, is removed: the log has it still. */
export function segmentsIn(folder: string, series: SeriesName): SegmentFacts[] {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const files = readdirSync(folder)
    .filter((name) => name.startsWith(`${series}-`) && name.endsWith('.sqlite'))
    .sort()
    .map((name) => join(folder, name))
  return files.flatMap((file) => {
    if (isSegment(file)) return [readFacts(file)]
    removeSegment(file)
    return []
  })
}

export function removeSegment(file: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
}

function readFacts(file: string): SegmentFacts {
  const database = openForReading(file)
  try {
    return { file, ...factsOf(database) }
  } finally {
    database.close()
  }
}

export function factsOf(database: DatabaseSync): Omit<SegmentFacts, 'file'> {
  const row = database
    .prepare(
      `SELECT firstSeq, (SELECT ifnull(max(seq), firstSeq - 1) FROM events) AS lastSeq, (SELECT ifnull(sum(count), 0) FROM kinds) AS count, (SELECT ifnull(min(first), 0) FROM kinds) AS first,
        (SELECT ifnull(max(last), 0) FROM kinds) AS last FROM facts`,
    )
    .get()
  return { ...(row as Omit<SegmentFacts, 'file'>) }
}
