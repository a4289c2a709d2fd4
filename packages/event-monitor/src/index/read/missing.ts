import type { Indexed } from '../../model/row.ts'
import { rules } from '../../model/rules.ts'
import type { EventTuple, Segments } from './segments.ts'

interface Waiting {
  seq: number
  at: number
}
type Row = Pick<EventTuple, 'seq' | 'at' | 'kind' | 'subject'>

/** Reactions that came before what they react to, from another topic: so many are remembered. */
const maxEarly = 100_000
/** The newest of those who wait. Where more do, something is down, and the first few tell what. */
const maxWaiting = 20_000

/** What nobody has reacted to yet: kept up by reading each row of the index once. */
export class Unanswered {
  #seq = 0
  readonly #waiting = new Map<number, Waiting>()
  readonly #early = new Set<number>()

  /** Reads at most so many rows more. Answers whether there may be others. */
  read(segments: Segments, most = Number.MAX_SAFE_INTEGER): boolean {
    let left = most
    const causes = new Set(rules.map(({ cause }) => cause))
    const effects = new Set(rules.flatMap((rule) => rule.effects))
    for (const segment of segments.of('events').reverse()) {
      if (left === 0) break
      if (segment.facts.lastSeq <= this.#seq) continue
      const names = new Map(segment.kinds().map(({ id, kind }) => [id, kind.name ?? '']))
      const last = this.#seq
      const rows = segment.iterate<Row>(
        'SELECT seq, at, kind, subject FROM events WHERE seq > ? ORDER BY seq LIMIT ?',
        last,
        left,
      )
      for (const { seq, at, kind, subject } of rows) {
        this.#seq = seq
        left -= 1
        if (subject === null) continue
        const name = names.get(kind) ?? segment.kind(kind).name ?? ''
        if (effects.has(name)) this.#settle(subject)
        else if (causes.has(name) && !this.#early.delete(subject)) this.#wait(subject, { seq, at })
      }
    }
    const [oldest] = segments.of('events').slice(-1)
    for (const [subject, { seq }] of this.#waiting) {
      if (oldest && seq < oldest.facts.firstSeq) this.#waiting.delete(subject)
      else break
    }
    return left === 0
  }

  /** Whether more of them may wait than are remembered. */
  get isFull(): boolean {
    return this.#waiting.size >= maxWaiting
  }

  /** Those that came before a moment, the oldest first. */
  before(moment: number): Waiting[] {
    return [...this.#waiting.values()].filter(({ at }) => at < moment).sort((one, other) => one.at - other.at)
  }

  #wait(subject: number, waiting: Waiting): void {
    this.#waiting.set(subject, waiting)
    dropOldest(this.#waiting, maxWaiting)
  }

  #settle(subject: number): void {
    if (this.#waiting.delete(subject)) return
    this.#early.add(subject)
    dropOldest(this.#early, maxEarly)
  }
}

/**
 * Keeps the newest of those that were added one after the other, and a tenth more: to find its first, a Map walks over all that was deleted
 * since it grew, which for each row anew would be a hundred thousand steps.
 */
function dropOldest(added: Map<number, unknown> | Set<number>, kept: number): void {
  if (added.size <= kept * 1.1) return
  for (const key of added.keys()) {
    if (added.size <= kept) return
    added.delete(key)
  }
}

/** The event of a number. */
export function eventOf(segments: Segments, seq: number): Indexed | undefined {
  for (const segment of segments.all()) {
    if (segment.facts.firstSeq > seq) continue
    const [row] = segment.all<EventTuple>('SELECT * FROM events WHERE seq = ?', seq)
    if (row) return segment.indexed(row)
  }
  return undefined
}
