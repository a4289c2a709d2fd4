import { deadLetterTopic } from '@orderflow/envelope-schema'
import { deadLetterId } from '../../stream/dead-letter.ts'
import { type Place, placeText } from '../../stream/record.ts'
import type { LogReader } from '../log-reader.ts'
import { type Letter, type ResendNote, readLetters } from './letter.ts'
import { Lineage } from './lineage.ts'

/** One record of the event that an app could not handle: the first, or one that was resent. */
export interface Attempt extends Omit<Letter, 'kind' | 'app'> {
  resent?: ResendNote
}

/** What one app could not handle of one event, however often it was delivered, dead-lettered and resent. */
export interface Entry {
  /** Derives from app and the record that failed first: its id, or its place if the id is unknown (0.1.0). */
  id: string
  app: string
  /** Id of the record that failed first, as far as notes lead back. */
  record: string | undefined
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
  const ours: (Letter | ResendNote)[] = []
  let others = 0
  const topics = (await log.topics()).filter((topic) => topic.endsWith(suffix)).sort()
  for (const topic of topics) {
    for await (const read of readLetters(log, topic)) {
      if (read.kind === 'other') others += 1
      else ours.push(read)
    }
  }
  return { entries: entriesOf(ours), others }
}

/** Returns letters and notes as entries. Those of one topic are in the order in which they were written. */
export function entriesOf(ours: readonly (Letter | ResendNote)[]): Entry[] {
  const lineage = new Lineage(ours)
  const entries = new Map<string, Entry>()
  const attempts = new Map<string, Attempt>()
  for (const [index, letter] of ours.entries()) {
    if (letter.kind !== 'letter') continue
    const { kind: _, app, ...failure } = letter
    const { place: origin, record } = lineage.first(letter)
    const id = deadLetterId(app, origin, record)
    const key = `${id} ${lineage.failureOf(letter, index)}`
    const known = attempts.get(key)
    if (known) {
      // The letter of a redelivered record comes again; the newest has the current reason.
      Object.assign(known, { reason: letter.reason, stands: letter.stands })
      continue
    }
    const note = lineage.answerTo(letter, index)
    const attempt: Attempt = { ...failure, ...(note && { resent: note }) }
    attempts.set(key, attempt)
    const entry = entries.get(id)
    if (entry) entry.attempts.push(attempt)
    else entries.set(id, { id, app, record, origin, attempts: [attempt] })
  }
  return [...entries.values()]
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

/** The record of an attempt, as text: the same for all apps that could not handle it. */
export function recordOf({ record, place }: Pick<Attempt, 'record' | 'place'>): string {
  return record === undefined ? placeText(place) : `${place.topic} ${record}`
}
