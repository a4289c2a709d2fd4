import type { DueEntry } from './lanes.ts'
import type { Listing } from './listing.ts'

/**
 * Lets a deadline of a document pass, or begins the next try of a call, if the document still has it. Returns true if an event was published, and
 * `waiting` if the entry must stay in the index until it has ended.
 * @param isDoubtful true if the store may execute an earlier write of the document later
 */
export type Fire = (entry: DueEntry, isDoubtful: boolean) => Promise<boolean | 'waiting'>

/** The deadlines of a process. */
export interface Firing {
  /** @param name the first part of the documents' keys, without the prefix of the tenant */
  onDue(name: string, fire: Fire): void
  /** Fires what is due. The service calls it every second. */
  sweep(): Promise<void>
  /** Fires an entry that the index has at once, so that it does not wait for a sweep. */
  fireSoon(entry: DueEntry): void
  /** Gives the deadlines to other processes. */
  leave(): Promise<void>
  /** Returns the time before which all open deadlines of this process pass, in milliseconds since 1970; undefined without deadlines. */
  openUntil(): number | undefined
  /** Returns the time by which the oldest due deadline of this process is late, in milliseconds; exact to a minute, so 0 below a minute. */
  overdueMs(): number
  /** Reads the index of all processes, for operators. */
  list(): Promise<Listing>
}

/** Fires nothing. Dry runs and rebuilds use it. */
export const noFiring: Firing = {
  onDue() {},
  async sweep() {},
  fireSoon() {},
  async leave() {},
  openUntil: () => undefined,
  overdueMs: () => 0,
  list: async () => ({ entries: [], isWhole: true, now: 0, hold: undefined, unhandled: undefined }),
}
