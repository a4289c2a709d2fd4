import {
  type DeadLetters,
  type Entry,
  entriesOf,
  type Letter,
  newestAttempt,
  placeText,
  type ResendNote,
  readRecord,
} from '@orderflow/service-kit/log'
import type { LetterFacts } from '../../model/dead-letters.ts'
import type { Indexed } from '../../model/row.ts'
import type { EventTuple, Segments } from './segments.ts'

/** So many of the newest letters are grouped: more are on their topics, and `make dead-letters` reads them all. */
const maxLetters = 50_000

/** A letter is known by its record, too: its topic may have been created again. */
const letterKey = ({ stands, record = '' }: Pick<Letter, 'stands' | 'record'>): string =>
  `${placeText(stands)} ${record}`

/** The dead letters of the index, as `make dead-letters` would read them from the log (`readDeadLetters`), and what is known of each. */
export class DeadLetterBook {
  #seq = 0
  /** In the order in which they were written. */
  #ours: (Letter | ResendNote)[] = []
  #letters = 0
  #facts = new Map<string, LetterFacts>()
  #others = 0
  #entries: Entry[] | undefined

  /** Reads what came since. */
  read(segments: Segments): DeadLetters {
    for (const segment of segments.of('dead').reverse()) {
      if (segment.facts.lastSeq <= this.#seq) continue
      for (const row of segment.all<EventTuple>('SELECT * FROM events WHERE seq > ? ORDER BY seq', this.#seq)) {
        this.#add(segment.indexed(row))
        this.#seq = row.seq
        this.#entries = undefined
      }
    }
    this.#forget(this.#letters - maxLetters)
    this.#entries ??= entriesOf(this.#ours)
    return { entries: this.#entries, others: this.#others }
  }

  readonly factsOf = (entry: Entry): LetterFacts | undefined => this.#facts.get(letterKey(newestAttempt(entry)))

  /** Drops so many of the oldest letters. */
  #forget(count: number): void {
    if (count <= 0) return
    let left = count
    this.#ours = this.#ours.filter((one) => {
      if (one.kind === 'note' || left === 0) return true
      left -= 1
      this.#facts.delete(letterKey(one))
      return false
    })
    this.#letters -= count
  }

  #add({ place, at, kind, body }: Indexed): void {
    const record = readRecord({
      topic: place.topic,
      partition: place.partition,
      offset: BigInt(place.offset),
      timestamp: at,
      key: undefined,
      value: Buffer.alloc(0),
      headers: (body.headers ?? []).map(({ name, value }) => [Buffer.from(name), Buffer.from(value)]),
    })
    if (record.kind === 'letter') {
      this.#ours.push(record)
      this.#letters += 1
      this.#facts.set(letterKey(record), { kind, faults: body.faults ?? [] })
    } else if (record.kind === 'note') this.#ours.push(record)
    else this.#others += 1
  }
}
