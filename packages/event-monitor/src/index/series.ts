import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { isSegment, openForReading } from './segment.ts'

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
