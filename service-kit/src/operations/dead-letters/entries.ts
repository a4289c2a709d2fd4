import { deadLetterTopic } from '@orderflow/envelope-schema'
import type { Place } from '../../stream/place.ts'
import type { LogReader } from '../log-reader.ts'
import { OperationError } from '../operation-error.ts'
import { type Letter, type ResendNote, readLetters } from './letter.ts'

/** One record of the event that an app could not handle: the first, or one that was resent. */
export type Attempt = Pick<Letter, 'place' | 'reason' | 'time' | 'stands'> & { resent?: ResendNote }

/** What one app could not handle of one event, however often it was delivered, dead-lettered and resent. */
export interface Entry {
  id: string
  app: string
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

/** The entries that have a reason and an app in common. */
export interface Group {
  name: string
  entries: Entry[]
}

const suffix = deadLetterTopic('')

/** All that stands on the log's dead-letter topics (`*.dead`), each origin once per app. */
export async function readDeadLetters(log: LogReader): Promise<DeadLetters> {
  const entries = new Map<string, Entry>()
  const notes = new Map<string, ResendNote>()
  let others = 0
  const topics = (await log.topics()).filter((topic) => topic.endsWith(suffix)).sort()
  for (const topic of topics) {
    for await (const read of readLetters(log, topic)) {
      if (read.kind === 'letter') add(entries, read)
      else if (read.kind === 'note') notes.set(read.of, read)
      else others += 1
    }
  }
  for (const attempt of [...entries.values()].flatMap(({ attempts }) => attempts)) {
    const resent = notes.get(attempt.place)
    if (resent) attempt.resent = resent
  }
  return { entries: [...entries.values()], others }
}

/** A redelivered event's letter comes again; the newest says how things stand. */
function add(entries: Map<string, Entry>, { id, app, origin, place, reason, time, stands }: Letter): void {
  const entry = entries.get(id) ?? { id, app, origin, attempts: [] }
  entries.set(id, entry)
  const known = entry.attempts.find((attempt) => attempt.place === place)
  if (known) Object.assign(known, { reason, stands })
  else entry.attempts.push({ place, reason, time, stands })
}

/** What is still to be resent of an entry; undefined when all of it was, and none that was resent failed again. */
export function openAttempt({ attempts }: Entry): Attempt | undefined {
  return attempts.findLast(({ resent }) => !resent)
}

export function newestAttempt({ attempts }: Entry): Attempt {
  return attempts.at(-1) as Attempt
}

export function groupOf(entry: Entry): string {
  return `${newestAttempt(entry).reason}/${entry.app}`
}

/** The entries by reason and app, the largest group first. */
export function groupsOf(entries: Entry[]): Group[] {
  const groups = [...Map.groupBy(entries, groupOf)].map(([name, members]) => ({ name, entries: members }))
  return groups.sort((a, b) => b.entries.length - a.entries.length || (a.name < b.name ? -1 : 1))
}

/**
 * The entries that a word means: `all`, a group's name, or an id or the beginning of one.
 * @throws {OperationError} when it means none, or the beginning is not that of one entry alone
 */
export function selectEntries(entries: Entry[], what: string): Entry[] {
  if (what === 'all') return entries
  const nextStep = 'make dead-letters shows groups, make dead-letters LIST=... the ids in one'
  if (what.includes('/')) {
    const members = entries.filter((entry) => groupOf(entry) === what)
    if (members.length > 0) return members
    throw new OperationError(`there is no group ${what}`, { nextStep })
  }
  const found = entries.filter(({ id }) => id.startsWith(what.toLowerCase()))
  if (found.length === 1) return found
  const message = found.length === 0 ? `there is no dead letter ${what}` : `${found.length} ids begin with ${what}`
  throw new OperationError(message, { nextStep: found.length === 0 ? nextStep : 'give more of the id' })
}
