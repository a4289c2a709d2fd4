import { type Place, placeText, precedes } from '../../stream/record.ts'
import type { Letter, ResendNote } from './letter.ts'

/** A record that failed. */
type Failed = Pick<Letter, 'place' | 'record'>

interface Standing<T> {
  one: T
  /** Index among letters and notes of the topic. */
  index: number
}

/**
 * Finds which note answers a dead letter, and which records were resent as which. Records are known by their ids. A position is not enough:
 * after its topic was created again, another record is there. Only letters and notes without ids (0.1.0) are joined by positions, and
 * then a note answers only letters that were written before it.
 */
export class Lineage {
  readonly #answers = new Map<string, ResendNote>()
  readonly #sources = new Map<string, ResendNote>()
  readonly #answersByPlace = new Map<string, Standing<ResendNote>[]>()
  readonly #sourcesByPlace = new Map<string, ResendNote>()
  readonly #indexes = new Map<ResendNote, number>()
  readonly #letters = new Map<string, Standing<Letter>[]>()

  constructor(ours: readonly (Letter | ResendNote)[]) {
    for (const [index, one] of ours.entries()) {
      if (one.kind === 'letter') {
        add(this.#letters, placeText(one.place), { one, index })
        continue
      }
      this.#indexes.set(one, index)
      if (one.ofRecord !== undefined) this.#answers.set(keyOf(one.of, one.ofRecord), one)
      else add(this.#answersByPlace, placeText(one.of), { one, index })
      if (one.asRecord !== undefined) this.#sources.set(keyOf(one.as, one.asRecord), one)
      // A note that leads forwards, or to another partition, was not written by a resend.
      if (precedes(one.of, one.as)) this.#sourcesByPlace.set(placeText(one.as), one)
    }
  }

  /** Returns the note that a failed record was resent; undefined if it was not. */
  answerTo({ record, place }: Letter, index: number): ResendNote | undefined {
    const known = record === undefined ? undefined : this.#answers.get(keyOf(place, record))
    return known ?? this.#answersByPlace.get(placeText(place))?.find((note) => note.index > index)?.one
  }

  /**
   * Returns a text that is the same for all letters of one failure. Letters without the record's id are of one failure until a note answers it.
   */
  failureOf({ record, place }: Letter, index: number): string {
    if (record !== undefined) return keyOf(place, record)
    const notes = this.#answersByPlace.get(placeText(place)) ?? []
    return `${placeText(place)} ${notes.filter((note) => note.index < index).length}`
  }

  /** Returns the record that failed first, back along the notes. */
  first(letter: Letter): Failed {
    let first: Failed = letter
    const seen = new Set<ResendNote>()
    for (let note = this.#sourceOf(letter); note && !seen.has(note); note = this.#sourceOf(first)) {
      seen.add(note)
      first = { place: note.of, record: note.ofRecord ?? this.#failedAt(note.of, this.#indexes.get(note)) }
    }
    return first
  }

  #sourceOf(failed: Failed & { origin?: Place }): ResendNote | undefined {
    const { place, record, origin } = failed
    const known = record === undefined ? undefined : this.#sources.get(keyOf(place, record))
    if (known) return known
    // The letter of a resent record says so; one that does not is about another record at this place.
    if (origin && placeText(origin) === placeText(place)) return undefined
    const note = this.#sourcesByPlace.get(placeText(place))
    return record !== undefined && note?.asRecord !== undefined ? undefined : note
  }

  /** Returns the id of the record at a place that a note without ids is about. */
  #failedAt(place: Place, index = 0): string | undefined {
    const letters = this.#letters.get(placeText(place)) ?? []
    return (letters.findLast((letter) => letter.index < index) ?? letters[0])?.one.record
  }
}

/** The same bytes can be in two topics at the same time. */
const keyOf = ({ topic }: Place, record: string): string => `${topic} ${record}`

function add<T>(map: Map<string, T[]>, key: string, one: T): void {
  const known = map.get(key)
  if (known) known.push(one)
  else map.set(key, [one])
}
