import {
  type Attempt,
  type DeadLetter,
  entriesOf,
  positionText,
  type ReadUpTo,
  type ReplayNote,
  readRecord,
} from '@orderflow/service-kit/log'
import { type Cause, causesOf, type DeadLetterFacts } from '../../model/dead-letters.ts'
import type { Indexed } from '../../model/row.ts'
import type { EventTuple, Segments } from './segments.ts'

/** The monitor groups at most this number of dead letters, the newest. `make dead-letters` reads all. */
const maxDeadLetters = 50_000

/** Returns a key that includes the record, because a topic can be created again with the same positions. */
const deadLetterKey = ({
  deadLetterPosition,
  record = '',
}: Pick<DeadLetter, 'deadLetterPosition' | 'record'>): string => `${positionText(deadLetterPosition)} ${record}`

/**
 * Dead letters in the index, oldest first, grouped by the failed record. `readDeadLetters` returns the same list from
 * the log.
 */
export class DeadLetterBook {
  #seq = 0
  #ours: (DeadLetter | ReplayNote)[] = []
  #deadLetterCount = 0
  #facts = new Map<string, DeadLetterFacts>()
  #others = 0
  #causes: Cause[] | undefined

  /**
   * Reads new dead letters. The positions for `readUpTo` are read before the rows. The writer commits both together, so
   * the rows contain all records before these positions.
   */
  read(segments: Segments): { causes: Cause[]; others: number; readUpTo: ReadUpTo } {
    const [active, ...sealed] = segments.of('dead')
    const readUpTo = new Map((active?.positions() ?? []).map(({ partition, next }) => [partition, BigInt(next)]))
    for (const segment of [...sealed.reverse(), ...(active ? [active] : [])]) {
      // Always reads the active segment, because its `lastSeq` is updated only twice a second.
      if (segment !== active && segment.facts.lastSeq <= this.#seq) continue
      for (const row of segment.all<EventTuple>('SELECT * FROM events WHERE seq > ? ORDER BY seq', this.#seq)) {
        this.#add(segment.indexed(row))
        this.#seq = row.seq
        this.#causes = undefined
      }
    }
    this.#forget(this.#deadLetterCount - maxDeadLetters)
    this.#causes ??= causesOf(entriesOf(this.#ours))
    return { causes: this.#causes, others: this.#others, readUpTo }
  }

  readonly factsOf = (attempt: Attempt): DeadLetterFacts | undefined => this.#facts.get(deadLetterKey(attempt))

  #forget(count: number): void {
    if (count <= 0) return
    let left = count
    this.#ours = this.#ours.filter((one) => {
      if (one.kind === 'note' || left === 0) return true
      left -= 1
      this.#facts.delete(deadLetterKey(one))
      return false
    })
    this.#deadLetterCount -= count
  }

  #add({ position, at, kind, body }: Indexed): void {
    const record = readRecord({
      topic: position.topic,
      partition: position.partition,
      offset: BigInt(position.offset),
      timestamp: at,
      appendedAt: Number.NaN,
      key: undefined,
      value: Buffer.alloc(0),
      headers: (body.headers ?? []).map(({ name, value }) => [Buffer.from(name), Buffer.from(value)]),
    })
    if (record.kind === 'dead-letter') {
      this.#ours.push(record)
      this.#deadLetterCount += 1
      this.#facts.set(deadLetterKey(record), { kind, faults: body.faults ?? [] })
    } else if (record.kind === 'note') this.#ours.push(record)
    else this.#others += 1
  }
}
