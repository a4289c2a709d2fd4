import type { Job } from './dead-letters.ts'
import type { Completeness, Count, EventRow } from './events.ts'

/**
 * `GET /v1/live` returns `text/event-stream` and takes an `EventFilter` without `from` and `to`. Each message has an
 * `event:` and JSON as `data:`. The server sends a comment after 15 s without messages. A new connection begins with
 * `hello`; `GET /v1/events` returns missed events.
 */
export interface LiveMessages {
  /** The first message. */
  hello: { completeness: Completeness; batchMs: number; maxRows: number }
  /** Ten per second at most. Without new events, one per second with counts of 0. */
  batch: LiveBatch
  /** Progress or end of a replay job. */
  job: Job
}

export interface LiveBatch {
  /** A counter. A gap means that this client was too slow for some batches; `lost` has their counts. */
  sequence: number
  at: string
  /** Exact number of events indexed since the last batch, without the filter. */
  received: number
  /** Exact number of events that match the filter. */
  matched: number
  /** Exact number of invalid events among `matched`. */
  invalid: number
  /** At most `maxRows` of `matched`, newest first. `matched - rows.length` rows are omitted. */
  rows: EventRow[]
  /** Counts of `matched` by property, to add to the facets. */
  added: { topic: Count[]; type: Count[]; publisher: Count[]; validity: Count[] }
  /** Counts of the batches that this client was too slow for; otherwise 0. The index has their rows. */
  lost: { batches: number; received: number; matched: number }
  completeness: Pick<Completeness, 'indexLag' | 'newest' | 'kept' | 'oldestKept' | 'unreadable' | 'isConnected'>
}
