import { createHash } from 'node:crypto'
import type { Problem } from '@orderflow/envelope-schema'
import { type Entry, newestAttempt, openAttempt } from '@orderflow/service-kit/log'
import type { DeadLetterEntry, DeadLetterGroup } from '../api/dead-letters.ts'
import { type Kind, publisherText } from './kind.ts'

/** What the index knows of a dead letter besides its story. */
export interface LetterFacts {
  kind: Kind
  /** As its app told them. */
  faults: readonly Problem[]
}

/** A letter's row says who set it aside and why (ingest/examine.ts): where both stand beside it, what is wrong alone. */
const withoutApp = (entry: Entry, message: string): string => {
  const said = `${plain(newestAttempt(entry).reason)} in ${plain(entry.app)}`
  return message === said ? '' : message.replace(`${said}: `, '')
}

/** What is wrong with an entry, as its app told. */
export const faultsOf = (entry: Entry, facts: LetterFacts | undefined): Problem[] =>
  (facts?.faults ?? []).map((fault) => ({ ...fault, message: withoutApp(entry, fault.message) }))

const plain = (word: string) => (/^[\w.-]+$/.test(word) ? word : '***')

/** All that entries of a group have in common. */
function groupFields(
  entry: Entry,
  facts: LetterFacts | undefined,
): Omit<DeadLetterGroup, 'id' | 'entries' | 'open' | 'oldest' | 'newest'> {
  const kind = facts?.kind
  return {
    app: plain(entry.app),
    reason: plain(newestAttempt(entry).reason),
    name: kind?.name ?? null,
    version: kind?.version ?? null,
    pointer: kind?.problem?.pointer || null,
    message: withoutApp(entry, kind?.problem?.message ?? ''),
    publisher: kind ? publisherText(kind) : null,
  }
}

/** A group's id: what its entries have in common, as a short text for an address. */
export function groupId(entry: Entry, facts: LetterFacts | undefined): string {
  const text = JSON.stringify(Object.values(groupFields(entry, facts)))
  return createHash('sha256').update(text).digest('base64url').slice(0, 16)
}

/** Groups of dead letters, those with the most open ones first. */
export function groupsOf(
  entries: readonly Entry[],
  factsOf: (entry: Entry) => LetterFacts | undefined,
): DeadLetterGroup[] {
  const groups = Map.groupBy(entries, (entry) => groupId(entry, factsOf(entry)))
  return [...groups]
    .map(([id, members]) => {
      const [first] = members as [Entry]
      const times = members.flatMap(({ attempts }) => attempts.map(({ time }) => time)).sort()
      return {
        id,
        ...groupFields(first, factsOf(first)),
        entries: members.length,
        open: members.filter(openAttempt).length,
        oldest: times[0] ?? '',
        newest: times.at(-1) ?? '',
      }
    })
    .sort((one, other) => other.open - one.open || other.entries - one.entries)
}

/** An entry as the page has it. */
export function entryView(entry: Entry, facts: LetterFacts | undefined): DeadLetterEntry {
  const { name, version, publisher } = groupFields(entry, facts)
  return {
    id: entry.id,
    app: plain(entry.app),
    group: groupId(entry, facts),
    reason: plain(newestAttempt(entry).reason),
    origin: entry.origin,
    state: openAttempt(entry) ? 'open' : 'resent',
    attempts: entry.attempts.map(({ place, time, reason, stands, resent }) => ({
      place,
      at: time,
      reason: plain(reason),
      letter: stands,
      resent: resent ? { as: resent.as, at: resent.time, edited: resent.edited } : null,
    })),
    name,
    version,
    publisher,
    problem: faultsOf(entry, facts)[0] ?? null,
  }
}
