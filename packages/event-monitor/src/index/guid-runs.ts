import type { DatabaseSync } from 'node:sqlite'
import { Statements } from './sqlite.ts'

/**
 * Tables with sorted numbers, which find events by GUID. Each number consists of 27 bits of the GUID's hash and 26 bits
 * of the event's number in the segment. Readers verify each hit. A transaction adds one run of numbers, and runs are
 * merged, as in a log-structured merge tree. A table with a row for each GUID would write fifty times as many bytes,
 * and take a fifth of the transaction's time.
 */
export const guidSchema = `
CREATE TABLE runs (id INTEGER PRIMARY KEY, level INTEGER NOT NULL) STRICT;
CREATE TABLE guids (run INTEGER NOT NULL, first INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE INDEX pages ON guids (run, first);
`

const seqRange = 2 ** 26
const hashRange = 2 ** 27
/**
 * The largest difference between two events' sequence numbers in a segment. A segment may have fewer events, because
 * dead letters use numbers of the same sequence.
 */
export const maxSegmentSpan = seqRange
/** Number of entries that fill a page of the file. */
const pageLength = 480
/** Number of runs that are merged into one run of the next level. */
const fanIn = 8

const lowest = (guid: string): number => (hashOf(guid) % hashRange) * seqRange

export const guidNumber = (guid: string, seqInSegment: number): number => lowest(guid) + seqInSegment

/** Writes runs in the caller's transaction. */
export class GuidRuns {
  readonly #statements: Statements
  #runs: { id: number; level: number }[] = []

  /** Call `restore` before use. */
  constructor(database: DatabaseSync) {
    this.#statements = new Statements(database)
  }

  /** Reads the runs, at the start and after a failed transaction. */
  restore(): void {
    this.#runs = this.#statements.get('SELECT id, level FROM runs').all() as unknown as {
      id: number
      level: number
    }[]
  }

  add(numbers: Float64Array): void {
    if (numbers.length === 0) return
    this.#write(numbers.sort(), 0)
    for (let level = 0; ; level += 1) {
      const same = this.#runs.filter((run) => run.level === level)
      if (same.length < fanIn) return
      this.#merge(same, level + 1)
    }
  }

  mergeAll(): void {
    const highest = this.#runs.reduce((most, { level }) => Math.max(most, level), 0)
    if (this.#runs.length > 1) this.#merge(this.#runs, highest)
  }

  #merge(runs: { id: number }[], level: number): void {
    const ids = runs.map(({ id }) => id)
    const merged = this.#numbersOf(ids)
    for (const id of ids) {
      this.#statements.get('DELETE FROM guids WHERE run = ?').run(id)
      this.#statements.get('DELETE FROM runs WHERE id = ?').run(id)
    }
    this.#runs = this.#runs.filter(({ id }) => !ids.includes(id))
    this.#write(merged.sort(), level)
  }

  /** Reads row by row, to save memory. */
  #numbersOf(runs: number[]): Float64Array {
    const lengthOf = this.#statements.get('SELECT ifnull(sum(length(body)), 0) AS bytes FROM guids WHERE run = ?')
    const numbers = new Uint8Array(runs.reduce((sum, run) => sum + Number(lengthOf.get(run)?.bytes), 0))
    let at = 0
    for (const run of runs) {
      for (const { body } of this.#statements.get('SELECT body FROM guids WHERE run = ?').iterate(run)) {
        numbers.set(body as Uint8Array, at)
        at += (body as Uint8Array).length
      }
    }
    return new Float64Array(numbers.buffer)
  }

  #write(sorted: Float64Array, level: number): void {
    const { lastInsertRowid } = this.#statements.get('INSERT INTO runs (level) VALUES (?)').run(level)
    const id = Number(lastInsertRowid)
    const page = this.#statements.get('INSERT INTO guids VALUES (?, ?, ?)')
    for (let at = 0; at < sorted.length; at += pageLength) {
      const part = sorted.subarray(at, at + pageLength)
      page.run(id, part[0] as number, new Uint8Array(part.buffer, part.byteOffset, part.byteLength))
    }
    this.#runs.push({ id, level })
  }
}

/**
 * Selects the pages that may contain a GUID. In each run, these are the pages whose first number has the GUID's hash,
 * and the page before them. It is one statement, so it reads one snapshot. CROSS makes SQLite start with the runs,
 * instead of all pages.
 */
export const pagesSql = `
SELECT g.body FROM runs r CROSS JOIN guids g ON g.run = r.id AND g.first < ?2
  AND g.first >= ifnull((SELECT max(first) FROM guids WHERE run = r.id AND first <= ?1), ?1)`

/** Returns sorted numbers of events that may have a GUID. */
export function seqsOf(guid: string, all: <Row>(sql: string, ...values: number[]) => Row[]): number[] {
  const low = lowest(guid)
  const high = low + seqRange
  const seqs: number[] = []
  for (const { body } of all<{ body: Uint8Array }>(pagesSql, low, high)) {
    const numbers = numbersIn(body)
    for (let at = firstAtLeast(numbers, low); at < numbers.length && (numbers[at] as number) < high; at += 1) {
      seqs.push((numbers[at] as number) - low)
    }
  }
  return seqs.sort((one, other) => one - other)
}

function firstAtLeast(numbers: Float64Array, wanted: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((numbers[middle] as number) < wanted) low = middle + 1
    else high = middle
  }
  return low
}

/** Copies the bytes, because SQLite's buffer may not be aligned. */
const numbersIn = (body: Uint8Array): Float64Array => new Float64Array(body.slice().buffer)

/** FNV-1a for 32 bits (RFC 9923). */
const [basis, prime] = [0x811c9dc5, 0x01000193]

/**
 * Returns a hash of 53 bits. It runs FNV-1a from both ends of the text, because some publishers' ids differ only in
 * their first or last characters.
 */
export function hashOf(text: string): number {
  let [forwards, backwards] = [basis, basis]
  for (let index = 0, last = text.length - 1; index <= last; index += 1) {
    forwards = Math.imul(forwards ^ text.charCodeAt(index), prime)
    backwards = Math.imul(backwards ^ text.charCodeAt(last - index), prime)
  }
  return (backwards & 0x1fffff) * 2 ** 32 + (forwards >>> 0)
}
