import type { DryRunResult, EditedDocument } from './actions.ts'
import type { FireRequest } from './deadlines.ts'
import type { Completeness, EventDetail, Fault, RecordPosition, RejectedBy } from './events.ts'

/** `GET /v1/dead-letters`: groups, sorted by the number of open entries, largest first. */
export interface DeadLetterGroups {
  groups: DeadLetterGroup[]
  /** Number of records that other programs wrote to dead-letter topics. */
  others: number
  open: number
  complete: Completeness
}
export interface DeadLetterGroup {
  /** A digest of the problem. Requests name the group by this id. */
  id: string
  services: string[]
  reason: string
  name: string | null
  version: number | null
  pointer: string | null
  message: string
  publisher: string | null
  entries: number
  open: number
  oldest: string
  newest: string
}

/**
 * `GET /v1/dead-letters/entries?group=&state=open|replayed&limit=&cursor=` returns `Page<DeadLetterEntry>`. An entry
 * is a record with all its rejections.
 */
export interface DeadLetterEntry {
  /** The id of the first dead letter. A request with the id of another service's dead letter finds the same entry. */
  id: string
  /** Services that rejected the newest attempt, sorted by name. */
  services: RejectedBy[]
  group: string
  reason: string
  origin: RecordPosition
  state: 'open' | 'replayed'
  attempts: {
    position: RecordPosition
    at: string
    /** Sorted by service. */
    rejections: { app: string; reason: string; deadLetter: RecordPosition }[]
    replayed: { as: RecordPosition; at: string; edited: boolean } | null
  }[]
  name: string | null
  version: number | null
  publisher: string | null
  problem: Fault | null
}

/** `GET /v1/dead-letters/entries/{id}`. */
export interface DeadLetterDetail {
  entry: DeadLetterEntry
  /** The newest open attempt, or the last attempt if none is open. */
  attempt: RecordPosition
  faults: Fault[]
  /** The masked report of a service about the whole event. */
  detail: string | null
  /** The failed event as JSON text with placeholders (`EditedDocument`). Null if the event is lost or not JSON. */
  editable: string | null
  /** Null if the index does not contain the event. */
  event: EventDetail | null
  /** Reasons why an unchanged replay would be rejected. */
  refusals: string[]
}

/**
 * `POST /v1/dead-letters/entries/{id}/check`, scope `events:operate`: checks if the event can be replayed, and
 * publishes nothing.
 */
export interface CheckRequest {
  edited?: EditedDocument
  /** The request fails with 409 if this is no longer the newest open attempt. */
  attempt?: RecordPosition
}
export interface CheckResult {
  /** True if the event can be replayed. */
  isReady: boolean
  /** Problems that every receiver would report. */
  faults: Fault[]
  refusals: string[]
  /** Masked differences from the original event. */
  changes: { pointer: string; before: unknown; after: unknown }[]
  /** Effects in each service; null if receivers would reject the event. */
  dryRun: DryRunResult | null
}

/**
 * `POST /v1/replays`, scope `events:operate`: starts a job that replays the newest attempt of each entry. Returns 202.
 * A retry with the same `Idempotency-Key` and body returns the same job. With another body, it fails with 422.
 */
export type ReplayRequest =
  | { entries: string[]; perSecond?: number }
  /** One entry. Fails with 409 if `attempt` is no longer its newest open attempt. */
  | { entries: [string]; attempt: RecordPosition; edited?: EditedDocument }
  /** All open entries of a group. `perSecond` is 1 to 1000; the default is 50. */
  | { group: string; perSecond?: number }

/** `GET /v1/replays` (`{ items: Job[] }`, newest first, at most 50), `GET /v1/replays/{id}`. Jobs survive a restart. */
export interface Job {
  id: string
  state: 'running' | 'done' | 'stopped' | 'failed'
  by: string
  startedAt: string
  endedAt: string | null
  perSecond: number
  group: string | null
  edited: boolean
  total: number
  replayed: number
  /** Events that cannot be replayed, or would be rejected again. */
  refused: number
  /** Events that were replayed before this job. */
  done: number
  /** The newest 100 outcomes, newest first. For `done`, `as` is the position of the earlier replay. */
  outcomes: { entry: string; result: 'replayed' | 'refused' | 'done'; as: RecordPosition | null; why: string[] }[]
  /** The error of a failed or waiting job. */
  error: string | null
}
/** `POST /v1/replays/{id}/stop` returns the `Job`. */

/** `GET /v1/audit`, scope `events:read`: newest first, at most 200. */
export interface Audit {
  items: {
    at: string
    by: string
    what: 'PersonalDataViewed' | 'DeadLetterReplayed' | 'DeadlineFired'
    /** Null for `DeadlineFired`. */
    position: RecordPosition | null
    reason: string | null
    as: RecordPosition | null
    edited: boolean | null
    /** The deadline of `DeadlineFired`. */
    deadline?: FireRequest
  }[]
  complete: Completeness
}
