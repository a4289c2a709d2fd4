import type {
  Completeness,
  DryRunResult,
  EditedDocument,
  EventDetail,
  Fault,
  RecordPosition,
  RejectedBy,
} from './events.ts'

/** `GET /v1/dead-letters`: groups of dead letters, those with most open entries first. */
export interface DeadLetterGroups {
  groups: DeadLetterGroup[]
  /** Number of records in dead-letter topics that other programs wrote. */
  others: number
  open: number
  complete: Completeness
}
export interface DeadLetterGroup {
  /** Digest of the properties below, used by `group=` and replay jobs. */
  id: string
  /** Services that rejected any record of the group. */
  services: string[]
  reason: string
  name: string | null
  version: number | null
  /** Pointer of the first problem; null for reasons without a problem. */
  pointer: string | null
  message: string
  publisher: string | null
  /** Number of records, independent of how many services rejected each. */
  entries: number
  open: number
  oldest: string
  newest: string
}

/**
 * `GET /v1/dead-letters/entries?group=&state=open|replayed&limit=&cursor=` returns `Page<DeadLetterEntry>`. An entry is
 * a record with all services that rejected it.
 */
export interface DeadLetterEntry {
  /**
   * Id of the first service's dead letter in `make dead-letters`. The ids of the other dead letters find the same
   * entry.
   */
  id: string
  /** Services that rejected the newest attempt, by name. */
  services: RejectedBy[]
  group: string
  reason: string
  /** The event's origin. */
  origin: RecordPosition
  state: 'open' | 'replayed'
  attempts: {
    position: RecordPosition
    /** Time of its first dead letter. */
    at: string
    /** Services that rejected it, by name, with the positions of their dead letters. */
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
  /**
   * The failed record that `editable` and `refusals` describe: the newest open attempt, or else the last one. Send it
   * with an edit.
   */
  attempt: RecordPosition
  /** The problems that services reported, without duplicates. */
  faults: Fault[]
  /** A service's report in any other form; masked. */
  detail: string | null
  /**
   * The failed event as JSON text with placeholders for masked values (`EditedDocument`). Null if it is lost or not
   * JSON.
   */
  editable: string | null
  /** The failed event; null if its record is not in the index. */
  event: EventDetail | null
  /** Reasons why an unchanged replay would be rejected again; empty if it would be accepted. */
  refusals: string[]
}

/** `POST /v1/dead-letters/entries/{id}/check`, scope `events:operate`. It publishes nothing. */
export interface CheckRequest {
  edited?: EditedDocument
  /** The edited attempt. 409 unless it is still the newest open one. */
  attempt?: RecordPosition
}
export interface CheckResult {
  /** True if it can be replayed. */
  isReady: boolean
  /** Problems that every receiver would report. */
  faults: Fault[]
  refusals: string[]
  /** Differences to the original, masked, by JSON pointer. */
  changes: { pointer: string; before: unknown; after: unknown }[]
  /** Effects in each service; null if receivers would reject it. */
  dryRun: DryRunResult | null
}

/**
 * `POST /v1/replays`, scope `events:operate`: starts a job that replays the newest attempts at the time of the request.
 * Returns 202. A retry with the same `Idempotency-Key` returns the same job, and 422 with another body.
 */
export type ReplayRequest =
  | { entries: string[]; perSecond?: number }
  /** One entry, unchanged or edited. 409 unless `attempt` is still its newest open attempt. */
  | { entries: [string]; attempt: RecordPosition; edited?: EditedDocument }
  /** All entries of a group that are open at the start of the job. `perSecond` is 1 to 1000; the default is 50. */
  | { group: string; perSecond?: number }

/**
 * `GET /v1/replays` (`{ items: Job[] }`, newest first, at most 50), `GET /v1/replays/{id}`. Jobs survive a restart of
 * the monitor.
 */
export interface Job {
  id: string
  state: 'running' | 'done' | 'stopped' | 'failed'
  /** The caller who started it. */
  by: string
  startedAt: string
  endedAt: string | null
  perSecond: number
  group: string | null
  edited: boolean
  total: number
  /** Number of replayed events. */
  replayed: number
  /** Number of events that would be rejected again, or cannot be replayed. */
  refused: number
  /** Number of events that were replayed before this job. It did not publish them again. */
  done: number
  /** The newest 100 outcomes, newest first. `as` is the position of the replay; for `done`, of an earlier one. */
  outcomes: { entry: string; result: 'replayed' | 'refused' | 'done'; as: RecordPosition | null; why: string[] }[]
  /** The error of a failed or waiting job; otherwise null. */
  error: string | null
}
/** `POST /v1/replays/{id}/stop` returns the `Job`. */

/** `GET /v1/audit`, scope `events:read`: views of personal data and replays, newest first, at most 200. */
export interface Audit {
  items: {
    at: string
    by: string
    what: 'PersonalDataViewed' | 'DeadLetterReplayed'
    position: RecordPosition
    reason: string | null
    /** Position of the new record of a replay. */
    as: RecordPosition | null
    edited: boolean | null
  }[]
  complete: Completeness
}
