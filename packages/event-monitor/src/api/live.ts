import type { Job } from './dead-letters.ts'
import type { Count, EventRow, Truth } from './events.ts'

/**
 * `GET /v1/live` is `text/event-stream` and takes an `EventFilter` without `from` and `to`. Each message has an `event:` and JSON as `data:`.
 * A comment comes every 15 s when nothing else does. Whoever connects again begins with a new `hello`; nothing is repeated: what was
 * missed is in `GET /v1/events`.
 */
export interface LiveMessages {
  /** First, once. */
  hello: { truth: Truth; batchMs: number; maxRows: number }
  /** At most ten a second; none while nothing comes but for one each second, with a count of 0. */
  batch: LiveBatch
  /** A job that replays dead letters moved on, or ended. */
  job: Job
}

export interface LiveBatch {
  /** Counts up by one: a hole means that this client was too slow, and lost batches (their counts are in `lost`). */
  sequence: number
  at: string
  /** Exact: events that were indexed since the last batch, whatever the filter says. */
  received: number
  /** Exact: those of them that the filter lets through. */
  matched: number
  /** Exact: those of `matched` that are neither `valid` nor `foreign`. */
  invalid: number
  /** At most `maxRows` of `matched`, newest first. `matched - rows.length` were left out. */
  rows: EventRow[]
  /** Of `matched`, by property: what to add to the facets. */
  added: { topic: Count[]; type: Count[]; publisher: Count[]; validity: Count[] }
  /** Batches that this client did not take in time, and what they counted; all 0 otherwise. Their rows are lost to it, not to the index. */
  lost: { batches: number; received: number; matched: number }
  truth: Pick<Truth, 'indexLag' | 'newest' | 'kept' | 'oldestKept' | 'unreadable' | 'isConnected'>
}
