import type { DatabaseSync } from 'node:sqlite'
import { recordTime } from '@orderflow/kafka-log'
import { type Kind, kindKey } from '../model/kind.ts'
import { GuidRuns, guidNumber, hashOf } from './guid-runs.ts'
import { type Body, blockLength, type Gap, type IndexRecord, type Position, toBlock } from './record.ts'
import { bucketMs, factsOf, openForWriting, type SegmentFacts, type SegmentStart } from './segment.ts'
import { Statements, transaction } from './sqlite.ts'

/** Limits the kinds in a segment, because publishers choose event names. Further kinds are stored as `(others)`. */
const maxKinds = 2_000
const otherKinds = (kind: Kind): Kind => ({
  ...kind,
  name: '(others)',
  version: null,
  appId: null,
  appName: '(others)',
  variant: null,
  problem: null,
})

interface StoredKind {
  id: number
  kind: Kind
}

/** The segment to which new records are written. Its state in memory equals the content of its file. */
export class ActiveSegment {
  readonly facts: SegmentFacts
  readonly #database: DatabaseSync
  readonly #statements: Statements
  /** False after a failed transaction, when the state in memory may differ from the file. */
  #isCurrent = false
  readonly #kinds = new Map<string, StoredKind>()
  /** Finds the stored kind of an object without its key (`kindKey`). Most records of a kind share one object. */
  #same = new WeakMap<Kind, StoredKind>()
  readonly #parts = new Map<string, number>()
  readonly #guids: GuidRuns
  #numbers = new Float64Array(8_192)
  #nextBlock = 1

  /** @param start values for a new segment; an existing file keeps its values */
  constructor(file: string, start: SegmentStart) {
    this.#database = openForWriting(file, start)
    this.#statements = new Statements(this.#database)
    this.#guids = new GuidRuns(this.#database)
    this.facts = { file, ...factsOf(this.#database) }
    try {
      this.restore()
    } catch (error) {
      this.close()
      throw error
    }
  }

  restore(): void {
    if (this.#isCurrent) return
    this.#kinds.clear()
    for (const row of this.#all('SELECT id, body FROM kinds')) {
      const kind = JSON.parse(row.body as string) as Kind
      this.#kinds.set(kindKey(kind), { id: row.id as number, kind })
    }
    this.#same = new WeakMap()
    this.#parts.clear()
    for (const { id, topic, partition } of this.#all('SELECT id, topic, partition FROM parts ORDER BY id')) {
      this.#parts.set(`${topic}/${partition}`, id as number)
    }
    this.#nextBlock = Number(this.#all('SELECT ifnull(max(id), 0) AS id FROM blocks')[0]?.id ?? 0) + 1
    this.#guids.restore()
    Object.assign(this.facts, factsOf(this.#database))
    this.#isCurrent = true
  }

  get positions(): Position[] {
    return this.#all('SELECT topic, partition, topicId, next FROM parts') as unknown as Position[]
  }

  /** Writes records and positions in one transaction. The first record gets the number `seq`. Returns the kind of each record. */
  write(records: readonly IndexRecord[], positions: readonly Position[], gaps: readonly Gap[], seq: number): Kind[] {
    const kinds = this.#transaction(() => this.#write(records, positions, gaps, seq))
    const { facts } = this
    if (records.length > 0) facts.lastSeq = seq + records.length - 1
    for (const record of records) {
      const at = recordTime(record.at)
      facts.first = facts.count === 0 ? at : Math.min(facts.first, at)
      facts.last = Math.max(facts.last, at)
      facts.count += 1
    }
    return kinds
  }

  /**
   * Moves the content of the write-ahead log into the file. Closing the file would also move the content, but hide an
   * error, such as a full disk. After this call, the segment can still be written.
   */
  seal(): void {
    this.#transaction(() => this.#guids.mergeAll())
    this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)')
  }

  close(): void {
    this.#database.close()
  }

  #transaction<Result>(work: () => Result): Result {
    this.restore()
    this.#isCurrent = false
    const result = transaction(this.#database, work)
    this.#isCurrent = true
    return result
  }

  #write(records: readonly IndexRecord[], positions: readonly Position[], gaps: readonly Gap[], seq: number): Kind[] {
    for (const position of positions) this.#position(position)
    const gap = this.#statements.get('INSERT INTO gaps VALUES (?, ?, ?, ?, ?, ?)')
    for (const { topic, partition, from, to, at, why } of gaps) gap.run(topic, partition, from, to, at, why)

    const kinds = records.map(({ kind }) => this.#kind(kind))
    const event = this.#statements.get('INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)')
    const block = this.#statements.get('INSERT INTO blocks VALUES (?, ?)')
    let length = 0
    let bodies: Body[] = []
    for (const [index, record] of records.entries()) {
      const { topic, partition, offset, bytes, guids, body, sharedId, id } = record
      const part = this.#parts.get(`${topic}/${partition}`)
      const kind = kinds[index] as StoredKind
      if (part === undefined) throw new Error(`there is no position of ${topic}/${partition}`)
      event.run(
        seq + index,
        part,
        offset,
        recordTime(record.at),
        kind.id,
        this.#nextBlock,
        bodies.length,
        bytes,
        sharedId === null ? null : hashOf(sharedId),
        sharedId === null ? null : hashOf(id),
      )
      bodies.push(body)
      if (bodies.length === blockLength || index === records.length - 1) {
        block.run(this.#nextBlock, toBlock(bodies))
        this.#nextBlock += 1
        bodies = []
      }
      for (const guid of guids) {
        if (length === this.#numbers.length) this.#numbers = grown(this.#numbers)
        this.#numbers[length] = guidNumber(guid, seq + index - this.facts.firstSeq)
        length += 1
      }
    }
    this.#guids.add(this.#numbers.slice(0, length))
    this.#count(records, kinds)
    return kinds.map(({ kind }) => kind)
  }

  #position({ topic, partition, topicId, next }: Position): void {
    const { id } = this.#statements
      .get(
        `INSERT INTO parts (topic, partition, topicId, next) VALUES (?, ?, ?, ?)
        ON CONFLICT (topic, partition) DO UPDATE SET topicId = excluded.topicId, next = excluded.next RETURNING id`,
      )
      .get(topic, partition, topicId, next) as { id: number }
    this.#parts.set(`${topic}/${partition}`, id)
  }

  #kind(kind: Kind): StoredKind {
    const same = this.#same.get(kind)
    if (same) return same
    const stored = this.#newKind(kind)
    this.#same.set(kind, stored)
    return stored
  }

  #newKind(kind: Kind): StoredKind {
    const key = kindKey(kind)
    const stored = this.#kinds.get(key)
    if (stored) return stored
    const isOther = kind.name === '(others)'
    if (this.#kinds.size >= maxKinds && !isOther) return this.#kind(otherKinds(kind))
    const id = this.#kinds.size + 1
    this.#statements.get('INSERT INTO kinds VALUES (?, ?, 0, 0, 0)').run(id, JSON.stringify(kind))
    const made = { id, kind }
    this.#kinds.set(key, made)
    return made
  }

  #count(records: readonly IndexRecord[], kinds: readonly StoredKind[]): void {
    const sums = new Map<number, { count: number; first: number; last: number; buckets: Map<number, number> }>()
    for (const [index, record] of records.entries()) {
      const at = recordTime(record.at)
      const { id } = kinds[index] as StoredKind
      const sum = sums.get(id) ?? { count: 0, first: at, last: at, buckets: new Map() }
      sums.set(id, sum)
      sum.count += 1
      sum.first = Math.min(sum.first, at)
      sum.last = Math.max(sum.last, at)
      const bucket = at - (at % bucketMs)
      sum.buckets.set(bucket, (sum.buckets.get(bucket) ?? 0) + 1)
    }
    const total = this.#statements.get(
      `UPDATE kinds SET first = iif(count = 0, ?1, min(first, ?1)), last = max(last, ?2), count = count + ?3 WHERE id = ?4`,
    )
    const counted = this.#statements.get(
      'INSERT INTO counts VALUES (?, ?, ?) ON CONFLICT (bucket, kind) DO UPDATE SET count = count + excluded.count',
    )
    for (const [id, { count, first, last, buckets }] of sums) {
      total.run(first, last, count, id)
      for (const [bucket, some] of buckets) counted.run(bucket, id, some)
    }
  }

  #all(sql: string): Record<string, unknown>[] {
    return this.#statements.get(sql).all() as Record<string, unknown>[]
  }
}

function grown(numbers: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(numbers.length * 2)
  larger.set(numbers)
  return larger
}
