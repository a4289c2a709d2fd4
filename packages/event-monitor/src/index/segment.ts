import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { guidSchema } from './guid-runs.ts'
import type { Position } from './record.ts'
import { isDamaged, lockTimeoutMs, openDatabase, transaction, versionOf } from './sqlite.ts'

/**
 * A segment is one SQLite file. One transaction writes events and read positions, so both stay consistent after a
 * crash.
 *
 * `parts` are partitions of topics. `next` is the first offset that is not in the index. `at` is in milliseconds since
 * 1970, as `recordTime` returns it, and `openedAt` is by the monitor's clock. `slot` is the index in the block.
 * `shared` (`SharedIdOf` in ingest/rules.ts) and `event` are hashes: `event` is the Id of an event that has a shared id.
 * `counts` has the number of events of each kind in each `bucketMs`. `rules` is a fingerprint (`rulesOf` in
 * ingest/rules.ts).
 */
const schema = `
CREATE TABLE parts (id INTEGER PRIMARY KEY, topic TEXT NOT NULL, partition INTEGER NOT NULL, topicId TEXT NOT NULL, next INTEGER NOT NULL,
  UNIQUE (topic, partition)) STRICT;
CREATE TABLE kinds (id INTEGER PRIMARY KEY, body TEXT NOT NULL, count INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL) STRICT;
CREATE TABLE events (seq INTEGER PRIMARY KEY, part INTEGER NOT NULL REFERENCES parts, offset INTEGER NOT NULL, at INTEGER NOT NULL,
  kind INTEGER NOT NULL REFERENCES kinds, block INTEGER NOT NULL, slot INTEGER NOT NULL, bytes INTEGER NOT NULL, shared INTEGER,
  event INTEGER) STRICT;
CREATE INDEX byOffset ON events (part, offset);
CREATE INDEX byKind ON events (kind);
CREATE TABLE blocks (id INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
${guidSchema}
CREATE TABLE counts (bucket INTEGER NOT NULL, kind INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (bucket, kind)) STRICT, WITHOUT ROWID;
CREATE TABLE gaps (topic TEXT NOT NULL, partition INTEGER NOT NULL, start INTEGER NOT NULL, next INTEGER NOT NULL, at INTEGER NOT NULL,
  why TEXT NOT NULL) STRICT;
CREATE TABLE facts (firstSeq INTEGER NOT NULL, openedAt INTEGER NOT NULL, rules TEXT NOT NULL) STRICT;
PRAGMA user_version = 8;
`

/** With buckets of this length, a chart of ten minutes has 120 buckets. */
export const bucketMs = 5_000

/** The monitor removes segments of other versions, and reads their events from the log again. */
const version = 8

export interface SegmentStart {
  firstSeq: number
  now: number
  rules: string
  positions: readonly Position[]
}

/** Opens a segment. A new segment gets its schema, facts and positions in one transaction. */
export function openForWriting(file: string, { firstSeq, now, rules, positions }: SegmentStart): DatabaseSync {
  return openDatabase(file, (database) => {
    // A power failure loses the newest rows together with their offsets, so the records are read again.
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -4000;
    PRAGMA wal_autocheckpoint = 4000; PRAGMA temp_store = MEMORY;`)
    if (versionOf(database) !== 0) return
    transaction(database, () => {
      database.exec(schema)
      database.prepare('INSERT INTO facts VALUES (?, ?, ?)').run(firstSeq, now, rules)
      const part = database.prepare('INSERT INTO parts (topic, partition, topicId, next) VALUES (?, ?, ?, ?)')
      for (const { topic, partition, topicId, next } of positions) part.run(topic, partition, topicId, next)
    })
  })
}

/**
 * Opens a segment in the reader's thread. A complete segment has no write-ahead log, and is opened as immutable.
 * Otherwise SQLite would create this log, which fails on a full disk.
 */
export function openForReading(file: string): DatabaseSync {
  const url = pathToFileURL(file)
  if (!existsSync(`${file}-wal`)) url.searchParams.set('immutable', '1')
  const database = new DatabaseSync(url, { readOnly: true, timeout: lockTimeoutMs })
  database.exec('PRAGMA cache_size = -500; PRAGMA query_only = ON;')
  return database
}

/**
 * Returns true if a file is a segment of this version and these rules.
 * @throws {Error} if the file cannot be read
 */
export function isSegment(file: string, rules: string): boolean {
  const database = new DatabaseSync(file, { timeout: lockTimeoutMs })
  try {
    return versionOf(database) === version && database.prepare('SELECT rules FROM facts').get()?.rules === rules
  } catch (error) {
    if (isDamaged(error)) return false
    throw error
  } finally {
    database.close()
  }
}

/** Dead letters have their own segments, because they are few and are kept longer than events. */
export type SeriesName = 'events' | 'dead'

export interface SegmentFacts {
  file: string
  firstSeq: number
  count: number
  /**
   * The sequence number of the last record; `firstSeq` - 1 without records. Events and dead letters share one sequence.
   */
  lastSeq: number
  /** Arrivals of the oldest and newest records; 0 without records. Publishers may have set any time. */
  first: number
  last: number
  /** The time at which the segment was created, by the monitor's clock. */
  openedAt: number
}

const nameOf = (series: SeriesName, firstSeq: number) => `${series}-${String(firstSeq).padStart(15, '0')}.sqlite`
export const segmentFile = (folder: string, series: SeriesName, firstSeq: number): string =>
  join(folder, nameOf(series, firstSeq))

/** Returns segments, oldest first. Removes damaged and outdated segments, because the log still has their events. */
export function segmentsIn(folder: string, series: SeriesName, rules: string): SegmentFacts[] {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const files = readdirSync(folder)
    .filter((name) => name.startsWith(`${series}-`) && name.endsWith('.sqlite'))
    .sort()
    .map((name) => join(folder, name))
  return files.flatMap((file) => {
    if (isSegment(file, rules)) return [{ file, ...read(file, factsOf) }]
    removeSegment(file)
    return []
  })
}

export function removeSegment(file: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
}

function read<Result>(file: string, work: (database: DatabaseSync) => Result): Result {
  const database = openForReading(file)
  try {
    return work(database)
  } finally {
    database.close()
  }
}

/** Returns the positions after the records of a segment. */
export const positionsIn = (file: string): Position[] =>
  read(file, (database) =>
    database.prepare('SELECT topic, partition, topicId, next FROM parts').all(),
  ) as unknown as Position[]

export function factsOf(database: DatabaseSync): Omit<SegmentFacts, 'file'> {
  const row = database
    .prepare(
      `SELECT firstSeq, openedAt, (SELECT ifnull(max(seq), firstSeq - 1) FROM events) AS lastSeq, (SELECT ifnull(sum(count), 0) FROM kinds) AS count, (SELECT ifnull(min(first), 0) FROM kinds) AS first,
        (SELECT ifnull(max(last), 0) FROM kinds) AS last FROM facts`,
    )
    .get()
  return { ...(row as Omit<SegmentFacts, 'file'>) }
}
