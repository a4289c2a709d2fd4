import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import type { Kind, KindCount } from '../../model/kind.ts'
import type { Indexed } from '../../model/row.ts'
import { type Body, blockTexts } from '../record.ts'
import { openForReading, type SegmentFacts } from '../segment.ts'
import { Statements } from '../sqlite.ts'

interface CountedKind extends KindCount {
  id: number
}

interface KindOfPartition {
  kind: number
  count: number
}

export interface EventTuple {
  seq: number
  part: number
  offset: number
  at: number
  kind: number
  block: number
  slot: number
  bytes: number
  shared: number | null
  event: number | null
}

interface Part {
  topic: string
  partition: number
}

/** Number of blocks in memory, which is enough for the rows of a page. */
const maxBlocks = 12

/** A segment that is open for reading. The writer may still add rows to it. */
export class ReadSegment {
  readonly file: string
  readonly #database: DatabaseSync
  readonly statements: Statements
  readonly #blocks = new Map<number, string[]>()
  #kinds: CountedKind[] = []
  #kindsOf = -1
  readonly #countsOf = new Map<number, { of: number; rows: KindOfPartition[] }>()
  #parts = new Map<number, Part>()
  facts: SegmentFacts

  constructor(facts: SegmentFacts) {
    this.file = facts.file
    this.facts = facts
    this.#database = openForReading(facts.file)
    this.statements = new Statements(this.#database)
  }

  /** Returns the kinds with their counts, which are cached until the segment grows. */
  kinds(): CountedKind[] {
    if (this.#kindsOf === this.facts.count) return this.#kinds
    const previous = new Map(this.#kinds.map(({ id, kind }) => [id, kind]))
    const rows = this.all<Omit<CountedKind, 'kind'> & { body: string }>('SELECT * FROM kinds')
    this.#kinds = rows.map(({ body, ...rest }) => ({ ...rest, kind: previous.get(rest.id) ?? JSON.parse(body) }))
    this.#kindsOf = this.facts.count
    return this.#kinds
  }

  /** Counts the rows in a partition and time range by kind. */
  countsOf(partition: number, from: number, to: number): KindOfPartition[] {
    const { count, first, last } = this.facts
    const isWhole = from <= first && to > last
    const cached = this.#countsOf.get(partition)
    if (isWhole && cached?.of === count) return cached.rows
    const rows = this.all<KindOfPartition>(
      `SELECT kind, count(*) AS count FROM events WHERE at >= ? AND at < ?
        AND part IN (SELECT id FROM parts WHERE partition = ?) GROUP BY kind`,
      from,
      to,
      partition,
    )
    if (isWhole && rows.length > 0) this.#countsOf.set(partition, { of: count, rows })
    return rows
  }

  kind(id: number): Kind {
    const lookUp = () => this.kinds().find((one) => one.id === id)?.kind
    const kind = lookUp()
    if (kind) return kind
    this.#kindsOf = -1
    return lookUp() as Kind
  }

  positions(): { partition: string; next: number }[] {
    return this.all("SELECT topic || '/' || partition AS partition, next FROM parts")
  }

  /** Returns the id of a partition, if the segment has one. */
  partsOf(topic: string, partition: number): number[] {
    const rows = this.all<{ id: number }>(
      'SELECT id FROM parts WHERE topic = ? AND partition = ? ORDER BY id DESC',
      topic,
      partition,
    )
    return rows.map(({ id }) => id)
  }

  #part(id: number): Part {
    const cached = this.#parts.get(id)
    if (cached) return cached
    this.#parts = new Map(
      this.all<Part & { id: number }>('SELECT id, topic, partition FROM parts').map(({ id: of, topic, partition }) => [
        of,
        { topic, partition },
      ]),
    )
    return this.#parts.get(id) as Part
  }

  indexed({ seq, part, offset, at, kind, block, slot, bytes }: EventTuple): Indexed {
    const { topic, partition } = this.#part(part)
    const body = JSON.parse(this.#texts(block)[slot] as string) as Body
    return { seq, position: { topic, partition, offset: String(offset) }, at, bytes, kind: this.kind(kind), body }
  }

  all<Row>(sql: string, ...values: (string | number | null)[]): Row[] {
    return this.statements.get(sql).all(...values) as Row[]
  }

  /** Iterates over rows, for callers that stop early. */
  iterate<Row>(sql: string, ...values: (string | number | null)[]): Iterable<Row> {
    return this.statements.get(sql).iterate(...values) as Iterable<Row>
  }

  close(): void {
    this.#database.close()
  }

  #texts(block: number): string[] {
    const cached = this.#blocks.get(block)
    if (cached) return cached
    const [row] = this.all<{ body: Uint8Array }>('SELECT body FROM blocks WHERE id = ?', block)
    const texts = blockTexts(row?.body as Uint8Array)
    if (this.#blocks.size >= maxBlocks) this.#blocks.delete(this.#blocks.keys().next().value as number)
    this.#blocks.set(block, texts)
    return texts
  }
}

export class Segments {
  #open = new Map<string, ReadSegment>()

  follow(facts: readonly SegmentFacts[]): void {
    const files = new Map(facts.map((one) => [one.file, one]))
    for (const [file, segment] of this.#open) {
      const now = files.get(file)
      if (now) segment.facts = now
      else {
        segment.close()
        this.#open.delete(file)
      }
    }
    for (const one of facts) {
      if (this.#open.has(one.file)) continue
      try {
        this.#open.set(one.file, new ReadSegment(one))
      } catch (error) {
        // The writer may have removed the file in the meantime.
        if (existsSync(one.file)) throw error
      }
    }
  }

  of(series: 'events' | 'dead'): ReadSegment[] {
    return this.all().filter(({ file }) => (file.split('/').at(-1) ?? '').startsWith(`${series}-`))
  }

  /** Newest first. */
  all(): ReadSegment[] {
    return [...this.#open.values()].sort((one, other) => other.facts.firstSeq - one.facts.firstSeq)
  }

  close(): void {
    for (const segment of this.#open.values()) segment.close()
    this.#open.clear()
  }
}
