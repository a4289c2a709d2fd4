import { parseGuid } from '@orderflow/envelope-schema'
import { OperationError } from '../operation-error.ts'
import { type Entry, newestAttempt } from './entries.ts'

/** The entries that have a reason and an app in common. */
export interface Group {
  name: string
  entries: Entry[]
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
 * The entries that a word means: `all`, a group's name, or an id in any usual spelling or the beginning of one.
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
  const begin = digitsOf(parseGuid(what) ?? what)
  const found = entries.filter(({ id }) => digitsOf(id).startsWith(begin))
  if (found.length === 1) return found
  const message = found.length === 0 ? `there is no dead letter ${what}` : `${found.length} ids begin with ${what}`
  throw new OperationError(message, { nextStep: found.length === 0 ? nextStep : 'give more of the id' })
}

const digitsOf = (id: string): string => id.toLowerCase().replaceAll('-', '')
