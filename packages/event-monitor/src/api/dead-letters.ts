import type {
  Completeness,
  DryRunResult,
  EditedDocument,
  EventDetail,
  Fault,
  RecordPosition,
  RejectedBy,
} from './events.ts'

/** `GET /v1/dead-letters`: groups of dead letters, the largest open one first. */
export interface DeadLetterGroups {
  groups: DeadLetterGroup[]
  /** Records on dead-letter topics that services of this system did not write. */
  others: number
  open: number
  complete: Completeness
}
export interface DeadLetterGroup {
  /** Digest of the properties below, for `group=` and jobs. */
  id: string
  /** The services that rejected any of its records. */
  services: string[]
  reason: string
  name: string | null
  version: number | null
  /** Pointer of the first problem; null if the reason has no problem. */
  pointer: string | null
  message: string
  publisher: string | null
  /** Records, however many services rejected each. */
  entries: number
  open: number
  oldest: string
  newest: string
}

/**
 * `GET /v1/dead-letters/entries?group=&state=open|replayed&limit=&cursor=` returns `Page<DeadLetterEntry>`: each record
 * once, with all services that rejected it.
 */
export interface DeadLetterEntry {
  /**
   * The id of the first service's dead letter in `make dead-letters`. The ids of the other services' dead letters find
   * the same entry.
   */
  id: string
  /** The services that rejected the newest attempt, by name. */
  services: RejectedBy[]
  group: string
  reason: string
  /** The event's first position. */
  origin: RecordPosition
  state: 'open' | 'replayed'
  attempts: {
    position: RecordPosition
    /** Time of its first dead letter. */
    at: string
    /** The services that rejected it, by name, with the positions of their dead letters. */
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
   * The failed record that `editable` and `refusals` describe: the newest open attempt, or the last one. An edit is
   * sent with it.
   */
  attempt: RecordPosition
  /** The problems that services reported, each once. */
  faults: Fault[]
  /** A service's report that is not a list of problems; masked. */
  detail: string | null
  /**
   * The failed event as JSON text with placeholders for masked values (`EditedDocument`). Null if it is lost or not
   * JSON.
   */
  editable: string | null
  /** The failed event; null if its record is not kept. */
  event: EventDetail | null
  /** Reasons why it would be rejected again if it were replayed unchanged; empty if it would be accepted. */
  refusals: string[]
}

/** `POST /v1/dead-letters/entries/{id}/check`, scope `events:operate`: nothing is published. */
export interface CheckRequest {
  edited?: EditedDocument
  /** The attempt that was edited: 409 unless it is still the newest open one. */
  attempt?: RecordPosition
}
export interface CheckResult {
  /** Whether it could be replayed. */
  isReady: boolean
  /** Problems that any receiver would report. */
  faults: Fault[]
  refusals: string[]
  /** Masked changes, by JSON pointers. */
  changes: { pointer: string; before: unknown; after: unknown }[]
  /** What each service would do; null if receivers would reject it. */
  dryRun: DryRunResult | null
}

/**
 * `POST /v1/replays`, scope `events:operate`: starts a job, 202. A retry with the same `Idempotency-Key` returns the
 * same job; 422 with another body. A job replays the attempts that are the newest at the request.
 */
export type ReplayRequest =
  | { entries: string[]; perSecond?: number }
  /** One entry, unchanged or edited: 409 unless `attempt` is still its newest open attempt. */
  | { entries: [string]; attempt: RecordPosition; edited?: EditedDocument }
  /** All open entries of a group, as they are when the job begins. `perSecond` 1 to 1000, 50 without. */
  | { group: string; perSecond?: number }

/** `GET /v1/replays` (`{ items: Job[] }`, newest first, at most 50), `GET /v1/replays/{id}`. A job survives a restart of the monitor. */
export interface Job {
  id: string
  state: 'running' | 'done' | 'stopped' | 'failed'
  /** Who started it. */
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
  /** Number of events that were replayed before this job, and so not published again. */
  done: number
  /**
   * The newest 100 outcomes, newest first. `as` is the position of the replay by this job, or by an earlier one for
   * `done`.
   */
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
    /** Position of a replay. */
    as: RecordPosition | null
    edited: boolean | null
  }[]
  complete: Completeness
}
