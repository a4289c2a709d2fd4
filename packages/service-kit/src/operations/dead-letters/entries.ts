import { parseGuid } from '@orderflow/envelope'
import { type LogReader, positionText, precedes, type RecordPosition } from '@orderflow/kafka-log'
import { deadLetterId } from '../../stream/dead-letters/dead-letter.ts'
import type { DeadLetter, DeadLetterRecord, ReplayNote } from '../../stream/dead-letters/dead-letter-record.ts'
import { OperationError } from '../terminal.ts'
import { deadLetterTopics, readDeadLetterTopic } from './records.ts'

/** One failed record of an event: the first record, or the record of a replay. */
export interface Attempt extends Omit<DeadLetter, 'kind' | 'app'> {
  replayed?: ReplayNote
}

/** The failures of one event in one app. */
export interface Entry {
  /**
   * The id derives from the app and the id of the first failed record. If the dead letter has no record id, the id derives from the record's
   * position.
   */
  id: string
  app: string
  /** The id of the event's first failed record, found through the notes of replays. */
  record: string | undefined
  /** The position of the event's first failed record, found through the notes of replays. */
  origin: RecordPosition
  /** The attempts, at least one; the oldest is the first. */
  attempts: Attempt[]
}

export interface DeadLetters {
  entries: Entry[]
  /** The number of other applications' records on the dead-letter topics. */
  others: number
}

/**
 * Reads the dead-letter topics (`*.dead`), and returns one entry for each event and app. A publisher can claim any origin in a header. So a record
 * joins the entry of its origin only if the note of a replay confirms the claim.
 */
export async function readDeadLetters(log: LogReader): Promise<DeadLetters> {
  const ours: DeadLetterRecord[] = []
  let others = 0
  for (const topic of (await deadLetterTopics(log)).sort()) {
    for await (const read of readDeadLetterTopic(log, topic)) {
      if (read.kind === 'other') others += 1
      else ours.push(read)
    }
  }
  return { entries: entriesOf(ours), others }
}

/**
 * Groups dead letters and notes into entries, without the dead letters of records that their app accepted later. Records of the same topic must be in
 * the order of the log.
 */
export function entriesOf(all: readonly DeadLetterRecord[]): Entry[] {
  const ours = withoutAccepted(all)
  const lineage = createLineage(ours)
  const entries = new Map<string, Entry>()
  const attempts = new Map<string, Attempt>()
  for (const [index, deadLetter] of ours.entries()) {
    if (deadLetter.kind !== 'dead-letter') continue
    const { kind: _, app, ...failure } = deadLetter
    const { position: origin, record } = lineage.first(deadLetter)
    const id = deadLetterId(app, origin, record)
    const key = `${id} ${lineage.failureOf(deadLetter, index)}`
    const known = attempts.get(key)
    if (known) {
      // The newest dead letter of a redelivered record has the current reason.
      Object.assign(known, { reason: deadLetter.reason, deadLetterPosition: deadLetter.deadLetterPosition })
      continue
    }
    const note = lineage.answerTo(deadLetter, index)
    const attempt: Attempt = { ...failure, ...(note && { replayed: note }) }
    attempts.set(key, attempt)
    const entry = entries.get(id)
    if (entry) entry.attempts.push(attempt)
    else entries.set(id, { id, app, record, origin, attempts: [attempt] })
  }
  return [...entries.values()]
}

/** Removes acceptances, and the earlier dead letters of the same app about the same record. */
function withoutAccepted(all: readonly DeadLetterRecord[]): (DeadLetter | ReplayNote)[] {
  const accepted = new Set<string>()
  const kept: (DeadLetter | ReplayNote)[] = []
  for (const one of all.toReversed()) {
    if (one.kind === 'acceptance') {
      accepted.add(outcomeKey(one))
      // A dead letter without the record's id has only its position.
      accepted.add(outcomeKey({ ...one, record: undefined }))
    } else if (one.kind === 'note' || !accepted.has(outcomeKey(one))) kept.push(one)
  }
  return kept.reverse()
}

const outcomeKey = ({ app, position, record }: Pick<DeadLetter, 'app' | 'position' | 'record'>): string =>
  `${app} ${recordOf({ position, record })}`

/** Returns the newest attempt without a replay; undefined if all were replayed. */
export function openAttempt({ attempts }: Entry): Attempt | undefined {
  return attempts.findLast(({ replayed }) => !replayed)
}

export function newestAttempt({ attempts }: Entry): Attempt {
  return attempts.at(-1) as Attempt
}

/** Returns the attempt to replay: the newest attempt without a replay, or the last attempt if all were replayed. */
export function currentAttempt(entry: Entry): Attempt {
  return openAttempt(entry) ?? newestAttempt(entry)
}

/** Returns a text that identifies the failed record of an attempt. The text is the same for all apps. */
export function recordOf({ record, position }: Pick<Attempt, 'record' | 'position'>): string {
  return record === undefined ? positionText(position) : `${position.topic} ${record}`
}

type Failed = Pick<DeadLetter, 'position' | 'record'>

type Indexed<T> = { one: T; index: number }

/**
 * Finds the note of each dead letter, and the failed record of each replayed record, by record ids. A topic that was created again uses the same
 * positions again, so positions are compared only if a dead letter has no record id. A note without ids applies only to earlier dead letters.
 */
function createLineage(ours: readonly (DeadLetter | ReplayNote)[]) {
  const answers = new Map<string, ReplayNote>()
  const sources = new Map<string, ReplayNote>()
  const answersByPosition = new Map<string, Indexed<ReplayNote>[]>()
  const sourcesByPosition = new Map<string, ReplayNote>()
  const indexes = new Map<ReplayNote, number>()
  const deadLetters = new Map<string, Indexed<DeadLetter>[]>()
  for (const [index, one] of ours.entries()) {
    if (one.kind === 'dead-letter') {
      add(deadLetters, positionText(one.position), { one, index })
      continue
    }
    indexes.set(one, index)
    if (one.ofRecord !== undefined) answers.set(keyOf(one.of, one.ofRecord), one)
    else add(answersByPosition, positionText(one.of), { one, index })
    if (one.asRecord !== undefined) sources.set(keyOf(one.as, one.asRecord), one)
    // A replay writes its record after the failed record, to the same partition. A note with other positions is not from a replay.
    if (precedes(one.of, one.as)) sourcesByPosition.set(positionText(one.as), one)
  }

  function sourceOf({ position, record, origin }: Failed & { origin?: RecordPosition }): ReplayNote | undefined {
    const known = record === undefined ? undefined : sources.get(keyOf(position, record))
    if (known) return known
    // The dead letter of a replayed record has an origin other than its position. If both are equal, this is no replay: the topic was created
    // again, and a new record has this position.
    if (origin && positionText(origin) === positionText(position)) return undefined
    const note = sourcesByPosition.get(positionText(position))
    return record !== undefined && note?.asRecord !== undefined ? undefined : note
  }

  function failedAt(position: RecordPosition, index = 0): string | undefined {
    const own = deadLetters.get(positionText(position)) ?? []
    return (own.findLast((deadLetter) => deadLetter.index < index) ?? own[0])?.one.record
  }

  return {
    /** Returns the note of the replay of this dead letter; undefined if it was not replayed. */
    answerTo({ record, position }: Failed, index: number): ReplayNote | undefined {
      const known = record === undefined ? undefined : answers.get(keyOf(position, record))
      return known ?? answersByPosition.get(positionText(position))?.find((note) => note.index > index)?.one
    },

    /**
     * Returns a key for a failure. If record ids are missing, dead letters at the same position have the same key, until a note about this
     * position follows.
     */
    failureOf({ record, position }: Failed, index: number): string {
      if (record !== undefined) return keyOf(position, record)
      const notes = answersByPosition.get(positionText(position)) ?? []
      return `${positionText(position)} ${notes.filter((note) => note.index < index).length}`
    },

    first(deadLetter: DeadLetter): Failed {
      let first: Failed = deadLetter
      const seen = new Set<ReplayNote>()
      for (let note = sourceOf(deadLetter); note && !seen.has(note); note = sourceOf(first)) {
        seen.add(note)
        first = { position: note.of, record: note.ofRecord ?? failedAt(note.of, indexes.get(note)) }
      }
      return first
    },
  }
}

/** Returns a key for a record. The key includes the topic, because records of two topics may have the same bytes. */
const keyOf = ({ topic }: RecordPosition, record: string): string => `${topic} ${record}`

function add<T>(map: Map<string, T[]>, key: string, one: T): void {
  const known = map.get(key)
  if (known) known.push(one)
  else map.set(key, [one])
}

export function groupOf(entry: Entry): string {
  return `${newestAttempt(entry).reason}/${entry.app}`
}

/** Returns the names and entries of all groups, with the largest group first. */
export function groupsOf(entries: Entry[]): [name: string, entries: Entry[]][] {
  const groups = [...Map.groupBy(entries, groupOf)]
  return groups.sort(([a, some], [b, others]) => others.length - some.length || (a < b ? -1 : 1))
}

/**
 * Returns the entries for an argument: `all`, a group, or the beginning of an entry's id. The hyphens of the id are optional.
 * @throws {OperationError} if the argument matches no entry, or matches several ids
 */
export function selectEntries(entries: Entry[], what: string): Entry[] {
  if (what === 'all') return entries
  const nextStep = 'make dead-letters lists groups; make dead-letters LIST=GROUP lists the ids of a group'
  if (what.includes('/')) {
    const members = entries.filter((entry) => groupOf(entry) === what)
    if (members.length > 0) return members
    throw new OperationError(`unknown group ${what}`, { nextStep })
  }
  const begin = digitsOf(parseGuid(what) ?? what)
  const found = entries.filter(({ id }) => digitsOf(id).startsWith(begin))
  if (found.length === 1) return found
  const message = found.length === 0 ? `unknown dead letter ${what}` : `${found.length} ids begin with ${what}`
  throw new OperationError(message, { nextStep: found.length === 0 ? nextStep : 'write more characters of the id' })
}

const digitsOf = (id: string): string => id.toLowerCase().replaceAll('-', '')
