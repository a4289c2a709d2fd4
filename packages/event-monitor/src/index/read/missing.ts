import type { Reaction } from '@orderflow/service-kit/application'
import type { Indexed } from '../../model/row.ts'
import type { EventTuple, Segments } from './segments.ts'

interface Entry {
  seq: number
  at: number
}
interface Waiting extends Entry {
  reaction: Reaction
}
type Row = Pick<EventTuple, 'seq' | 'at' | 'kind' | 'shared' | 'event'>

/** The largest number of remembered reactions that arrived before their cause. */
const maxEarly = 100_000
/** The largest number of waiting events to remember. The newest events are kept. */
const maxWaiting = 20_000
/** The largest number of remembered events. A service may publish an event again after a crash, soon after the first time. */
const maxSeen = 100_000

/** Finds events without their expected reactions, in one pass over the index. */
export class Unanswered {
  #seq = 0
  readonly #seen = new Set<number>()
  readonly #books: readonly Book[]

  constructor(reactions: readonly Reaction[]) {
    this.#books = reactions.map((reaction) => new Book(reaction))
  }

  /** Reads at most `most` new rows. Returns true if there may be more new rows. */
  read(segments: Segments, most = Number.MAX_SAFE_INTEGER): boolean {
    let left = most
    for (const segment of segments.of('events').reverse()) {
      if (left === 0) break
      if (segment.facts.lastSeq <= this.#seq) continue
      const names = new Map(segment.kinds().map(({ id, kind }) => [id, kind.name ?? '']))
      const last = this.#seq
      const rows = segment.iterate<Row>(
        'SELECT seq, at, kind, shared, event FROM events WHERE seq > ? ORDER BY seq LIMIT ?',
        last,
        left,
      )
      for (const { seq, at, kind, shared, event } of rows) {
        this.#seq = seq
        left -= 1
        if (shared === null || event === null || this.#isSecondCopy(event)) continue
        const name = names.get(kind) ?? segment.kind(kind).name ?? ''
        for (const book of this.#books) book.add(name, shared, { seq, at })
      }
    }
    const [oldest] = segments.of('events').slice(-1)
    if (oldest) for (const book of this.#books) book.forgetBefore(oldest.facts.firstSeq)
    return left === 0
  }

  #isSecondCopy(event: number): boolean {
    if (this.#seen.has(event)) return true
    this.#seen.add(event)
    dropOldest(this.#seen, maxSeen)
    return false
  }

  /** True if the list is full, so more events may be waiting. */
  get isFull(): boolean {
    return this.#books.some(({ isFull }) => isFull)
  }

  /**
   * Returns events that have waited longer than `seconds`, oldest first. The default is the reaction's time limit.
   */
  at(moment: number, seconds?: number): Waiting[] {
    return this.#books
      .flatMap((book) => book.before(moment - (seconds ?? book.reaction.within) * 1_000))
      .sort((one, other) => one.at - other.at)
  }
}

class Book {
  readonly reaction: Reaction
  readonly #waiting = new Map<number, Entry>()
  readonly #early = new Set<number>()

  constructor(reaction: Reaction) {
    this.reaction = reaction
  }

  add(name: string, shared: number, entry: Entry): void {
    if (this.reaction.answers.includes(name)) this.#settle(shared)
    else if (name === this.reaction.after && !this.#early.delete(shared)) this.#wait(shared, entry)
  }

  forgetBefore(firstSeq: number): void {
    for (const [shared, { seq }] of this.#waiting) {
      if (seq < firstSeq) this.#waiting.delete(shared)
      else break
    }
  }

  get isFull(): boolean {
    return this.#waiting.size >= maxWaiting
  }

  before(moment: number): Waiting[] {
    const waiting = [...this.#waiting.values()].filter(({ at }) => at < moment)
    return waiting.map((entry) => ({ ...entry, reaction: this.reaction }))
  }

  #wait(shared: number, entry: Entry): void {
    this.#waiting.set(shared, entry)
    dropOldest(this.#waiting, maxWaiting)
  }

  #settle(shared: number): void {
    if (this.#waiting.delete(shared)) return
    this.#early.add(shared)
    dropOldest(this.#early, maxEarly)
  }
}

/**
 * Removes the oldest entries, a tenth of `kept` at a time. Removing them one by one would be slow, because a Map walks
 * over all deleted entries to find its first entry.
 */
function dropOldest(added: Map<number, unknown> | Set<number>, kept: number): void {
  if (added.size <= kept * 1.1) return
  for (const key of added.keys()) {
    if (added.size <= kept) return
    added.delete(key)
  }
}

export function eventOf(segments: Segments, seq: number): Indexed | undefined {
  for (const segment of segments.all()) {
    if (segment.facts.firstSeq > seq) continue
    const [row] = segment.all<EventTuple>('SELECT * FROM events WHERE seq = ?', seq)
    if (row) return segment.indexed(row)
  }
  return undefined
}
