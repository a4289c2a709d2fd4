import { createHash } from 'node:crypto'
import type { Problem } from '@orderflow/envelope'
import { type Attempt, type Entry, isReplayable, openAttempt, recordOf } from '@orderflow/service-kit/log'
import type { DeadLetterEntry, DeadLetterGroup } from '../api/dead-letters.ts'
import { type Kind, publisherText } from './kind.ts'
import { plainWord } from './masked.ts'

export interface DeadLetterFacts {
  kind: Kind
  faults: readonly Problem[]
}

export type FactsOf = (attempt: Attempt) => DeadLetterFacts | undefined

/** One service's dead letter for one attempt. */
export interface Rejection {
  entry: Entry
  attempt: Attempt
}

/** A failed record, with the dead letters of all services that rejected it. */
export interface Cause {
  /** All dead letters as one entry, with the id of the first dead letter. */
  entry: Entry
  /** One entry for each service, oldest first. */
  entries: Entry[]
  /** Rejections of each attempt, sorted by service. */
  rejections: Rejection[][]
}

/** Groups dead letters by the record that failed first. */
export function causesOf(entries: readonly Entry[]): Cause[] {
  const byRecord = Map.groupBy(entries, ({ record, origin }) => recordOf({ record, position: origin }))
  return [...byRecord.values()].map(causeOf)
}

function causeOf(entries: Entry[]): Cause {
  const byAttempt = new Map<string, Rejection[]>()
  for (const entry of entries) {
    const counts = new Map<string, number>()
    for (const attempt of entry.attempts) {
      // Adds a number to the key, because several dead letters without a record id can have the same position.
      const record = recordOf(attempt)
      const count = counts.get(record) ?? 0
      counts.set(record, count + 1)
      const key = `${record} ${count}`
      byAttempt.set(key, [...(byAttempt.get(key) ?? []), { entry, attempt }])
    }
  }
  const rejections = [...byAttempt.values()]
    .sort((one, other) => firstTime(one).localeCompare(firstTime(other)))
    .map((some) => some.sort((one, other) => one.entry.app.localeCompare(other.entry.app)))
  const [first] = entries as [Entry]
  const app = entries.map((one) => one.app).join(', ')
  return { entry: { ...first, app, attempts: rejections.map(attemptOf) }, entries, rejections }
}

const firstTime = (rejections: readonly Rejection[]) =>
  rejections.reduce((first, { attempt: { time } }) => (time < first ? time : first), '~')

/**
 * Returns one attempt for all services. It is open while at least one dead letter is open. If one of the reasons
 * permits a replay, the attempt has this reason. Its time is the time of the oldest dead letter. All other fields come
 * from the newest dead letter.
 */
function attemptOf(rejections: Rejection[]): Attempt {
  const attempts = rejections.map(({ attempt }) => attempt)
  const newest = attempts.reduce((last, one) => (one.time > last.time ? one : last))
  const { reason } = attempts.find((one) => isReplayable(one.reason)) ?? newest
  const { replayed, ...rest } = newest
  const isOpen = attempts.some((one) => !one.replayed)
  return { ...rest, reason, time: firstTime(rejections), ...(!isOpen && replayed && { replayed }) }
}

const newestOf = ({ rejections }: Cause): [Rejection, ...Rejection[]] =>
  rejections.at(-1) as [Rejection, ...Rejection[]]

/** Returns a message without the service and reason at its beginning (ingest/examine.ts). */
const withoutApp = ({ entry, attempt }: Rejection, message: string): string => {
  const description = `${plainWord(attempt.reason)} in ${plainWord(entry.app)}`
  return message === description ? '' : message.replace(`${description}: `, '')
}

const problemsOf = (rejection: Rejection, facts: DeadLetterFacts | undefined): Problem[] =>
  (facts?.faults ?? []).map((fault) => ({ ...fault, message: withoutApp(rejection, fault.message) }))

export function faultsOf(cause: Cause, factsOf: FactsOf): Problem[] {
  const all = newestOf(cause).flatMap((one) => problemsOf(one, factsOf(one.attempt)))
  return [...new Map(all.map((fault) => [`${fault.pointer} ${fault.message}`, fault])).values()]
}

/**
 * Returns the properties that all entries of a group share. They come from the newest attempt. If several services
 * rejected this attempt, the dead letter of the first service by name is used.
 */
export function groupFields(
  cause: Cause,
  factsOf: FactsOf,
): Pick<DeadLetterGroup, 'reason' | 'name' | 'version' | 'pointer' | 'message' | 'publisher'> {
  const [first] = newestOf(cause)
  const kind = factsOf(first.attempt)?.kind
  return {
    reason: plainWord(first.attempt.reason),
    name: kind?.name ?? null,
    version: kind?.version ?? null,
    pointer: kind?.problem?.pointer || null,
    message: withoutApp(first, kind?.problem?.message ?? ''),
    publisher: kind ? publisherText(kind) : null,
  }
}

export function groupId(cause: Cause, factsOf: FactsOf): string {
  const text = JSON.stringify(Object.values(groupFields(cause, factsOf)))
  return createHash('sha256').update(text).digest('base64url').slice(0, 16)
}

/** Returns the services that rejected the newest attempt, sorted by name. */
export const servicesOf = (cause: Cause): string[] =>
  [...new Set(newestOf(cause).map(({ entry }) => plainWord(entry.app)))].sort()

export function entryView(cause: Cause, factsOf: FactsOf): DeadLetterEntry {
  const { name, version, publisher, reason } = groupFields(cause, factsOf)
  const { entry } = cause
  return {
    id: entry.id,
    services: newestOf(cause).map((one) => ({
      app: plainWord(one.entry.app),
      id: one.entry.id,
      reason: plainWord(one.attempt.reason),
      problem: problemsOf(one, factsOf(one.attempt))[0] ?? null,
    })),
    group: groupId(cause, factsOf),
    reason,
    origin: entry.origin,
    state: openAttempt(entry) ? 'open' : 'replayed',
    attempts: entry.attempts.map(({ position, time, replayed }, index) => ({
      position,
      at: time,
      rejections: (cause.rejections[index] ?? []).map((one) => ({
        app: plainWord(one.entry.app),
        reason: plainWord(one.attempt.reason),
        deadLetter: one.attempt.deadLetterPosition,
      })),
      replayed: replayed ? { as: replayed.as, at: replayed.time, edited: replayed.edited } : null,
    })),
    name,
    version,
    publisher,
    problem: faultsOf(cause, factsOf)[0] ?? null,
  }
}
