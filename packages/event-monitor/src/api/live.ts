import type { Job } from './dead-letters.ts'
import type { Completeness, Count, EventRow } from './events.ts'

/**
 * `GET /v1/live` returns `text/event-stream` and takes an `EventFilter` without `from` and `to`. Each message has an
 * `event:`, and JSON as `data:`. After 15 s without a message, the monitor sends a comment. After each new connection,
 * it sends `hello`; `GET /v1/events` then returns the events that the client missed. A client that shows several filters
 * sends each as a query string in the parameter `view`, because browsers allow only six connections.
 */
export interface LiveMessages {
  /** `view` is the index of the filter. */
  hello: { completeness: Completeness; batchMs: number; maxRows: number; view: number }
  /** Sent at most ten times per second, and once per second if there are no events. */
  batch: LiveBatch & { view: number }
  /** Progress or end of a replay job. */
  job: Job
}

export interface LiveBatch {
  /** The number of the batch. If a number is missing, this client was too slow; `lost` has the missed counts. */
  sequence: number
  at: string
  /** Number of all events indexed since the last batch. */
  received: number
  matched: number
  /** Number of invalid events among `matched`. */
  invalid: number
  /** At most `maxRows` of `matched`, newest first. */
  rows: EventRow[]
  added: { topic: Count[]; type: Count[]; publisher: Count[]; validity: Count[] }
  /** Counts of the batches that this client missed. */
  lost: { batches: number; received: number; matched: number }
  completeness: Omit<Completeness, 'gaps'>
}
