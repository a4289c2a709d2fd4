import { deadLetterTopic } from '@orderflow/envelope-schema'
import { deadLetterId } from '../../stream/dead-letter.ts'
import { type Place, placeText, precedes } from '../../stream/place.ts'
import type { LogReader } from '../log-reader.ts'
import { type Letter, type ResendNote, readLetters } from './letter.ts'

/** One record of the event that an app could not handle: the first, or one that was resent. */
export interface Attempt extends Omit<Letter, 'kind' | 'app'> {
  resent?: ResendNote
}

/** What one app could not handle of one event, however often it was delivered, dead-lettered and resent. */
export interface Entry {
  /** Derives from app and origin. */
  id: string
  app: string
  /** Where the event first stood, as far as notes lead back. */
  origin: Place
  /** Oldest first, at least one. */
  attempts: Attempt[]
}

export interface DeadLetters {
  /** Oldest first. */
  entries: Entry[]
  /** Records on the dead-letter topics that are no dead letters of ours. */
  others: number
}

const suffix = deadLetterTopic('')

/**
 * All that stands on the log's dead-letter topics (`*.dead`), each event once per app. What a record says of its origin does
 * not make it an attempt of that event's entry, since any publisher can say so: the note of a resend does. A record
 * whose resend was not noted (yet) is an entry of its own.
 */
export async function readDeadLetters(log: LogReader): Promise<DeadLetters> {
  const letters: Letter[] = []
  const notes: ResendNote[] = []
  let others = 0
  const topics = (await log.topics()).filter((topic) => topic.endsWith(suffix)).sort()
  for (const topic of topics) {
    for await (const read of readLetters(log, topic)) {
      if (read.kind === 'letter') letters.push(read)
      else if (read.kind === 'note') notes.push(read)
      else others += 1
    }
  }
  return { entries: entriesOf(letters, notes), others }
}

/** Letters and notes, in the order of their topics, as entries. */
export function entriesOf(letters: Letter[], notes: ResendNote[]): Entry[] {
  const resent = new Map(notes.map((note) => [placeText(note.of), note]))
  // A note that leads forwards, or to another partition, would lead round in circles.
  const sources = new Map(notes.filter(({ of, as }) => precedes(of, as)).map(({ of, as }) => [placeText(as), of]))
  const entries = new Map<string, Entry>()
  for (const { kind: _, app, ...letter } of letters) {
    const note = resent.get(placeText(letter.place))
    const attempt: Attempt = { ...letter, ...(note && { resent: note }) }
    const origin = firstPlace(letter.place, sources)
    const id = deadLetterId(app, origin)
    const entry = entries.get(id)
    if (entry) add(entry, attempt)
    else entries.set(id, { id, app, origin, attempts: [attempt] })
  }
  return [...entries.values()]
}

/** Where the event of a record first stood, back along the notes. */
function firstPlace(place: Place, sources: ReadonlyMap<string, Place>): Place {
  let first = place
  for (let source = sources.get(placeText(first)); source; source = sources.get(placeText(source))) first = source
  return first
}

/** A redelivered event's letter comes again; the newest says how things stand. */
function add({ attempts }: Entry, attempt: Attempt): void {
  const known = attempts.find(({ place }) => placeText(place) === placeText(attempt.place))
  if (known) Object.assign(known, { reason: attempt.reason, stands: attempt.stands })
  else attempts.push(attempt)
}

/** What is still to be resent of an entry; undefined when all of it was, and none that was resent failed again. */
export function openAttempt({ attempts }: Entry): Attempt | undefined {
  return attempts.findLast(({ resent }) => !resent)
}

export function newestAttempt({ attempts }: Entry): Attempt {
  return attempts.at(-1) as Attempt
}

/** The attempt that a replay is about: the newest open one, or the last one of an entry that was replayed. */
export function currentAttempt(entry: Entry): Attempt {
  return openAttempt(entry) ?? newestAttempt(entry)
}
