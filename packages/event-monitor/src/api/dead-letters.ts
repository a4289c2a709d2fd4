import type { DryRunResult, EditedDocument, EventDetail, Fault, RecordPosition, RejectedBy, Truth } from './events.ts'

/** `GET /v1/dead-letters`: groups of what could not be handled, the largest open one first. */
export interface DeadLetterGroups {
  groups: DeadLetterGroup[]
  /** Records on dead-letter topics that are none of ours. */
  others: number
  open: number
  complete: Truth
}
export interface DeadLetterGroup {
  /** Stands for all properties below; for `group=` and jobs. */
  id: string
  /** The services that rejected any of its records. */
  services: string[]
  reason: string
  name: string | null
  version: number | null
  /** Of the first problem; null when the reason has none. */
  pointer: string | null
  message: string
  publisher: string | null
  /** Records, however many services rejected each. */
  entries: number
  open: number
  oldest: string
  newest: string
}

/** `GET /v1/dead-letters/entries?group=&state=open|replayed&limit=&cursor=` answers `Page<DeadLetterEntry>`: each record once, with all services that rejected it. */
export interface DeadLetterEntry {
  /**
   * Of the first service that rejected the record: its id in `make dead-letters`. The ids of the other services' dead letters find the same
   * entry.
   */
  id: string
  /** The services that rejected the newest attempt, by name. */
  services: RejectedBy[]
  group: string
  reason: string
  /** Where the event first stood. */
  origin: RecordPosition
  state: 'open' | 'replayed'
  attempts: {
    position: RecordPosition
    /** When its first dead letter was written. */
    at: string
    /** Each service that rejected it, by name, and where its dead letter is. */
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
  /** The failed record that `editable` and `refusals` are about: the newest open attempt, or the last one. Sent with an edit of it. */
  attempt: RecordPosition
  /** Every problem that the services told, each once. */
  faults: Fault[]
  /** What a service told, when it is no list of problems; masked. */
  detail: string | null
  /** The event that failed, to be edited: JSON text with placeholders for what is masked (`EditedDocument`). Null when it is lost or no JSON. */
  editable: string | null
  /** The event that failed; null when its record is not kept. */
  event: EventDetail | null
  /** Why it would be refused if it were replayed as it is; empty when it would not. */
  refusals: string[]
}

/** `POST /v1/dead-letters/entries/{id}/check`, scope `events:operate`: nothing is published. */
export interface CheckRequest {
  edited?: EditedDocument
  /** The attempt that was edited: 409 if it is not the newest open one any more. */
  attempt?: RecordPosition
}
export interface CheckResult {
  /** Whether it could be replayed. */
  isReady: boolean
  /** Why not, as any receiver would say it. */
  faults: Fault[]
  refusals: string[]
  /** What was changed, masked; JSON pointers. */
  changes: { pointer: string; before: unknown; after: unknown }[]
  /** What each service would do; null while it would be refused. */
  dryRun: DryRunResult | null
}

/**
 * `POST /v1/replays`, scope `events:operate`: makes a job, 202. `Idempotency-Key` makes a retry the same job; 422 with another body.
 * A job replays the attempts that are the newest ones at the request.
 */
export type ReplayRequest =
  | { entries: string[]; perSecond?: number }
  /** One entry, as it is or edited: 409 if `attempt` is not its newest open attempt any more. */
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
  /** Published again. */
  replayed: number
  /** Would end as a dead letter again, or has no way back. */
  refused: number
  /** Were replayed before this job got to them, and so were not published again. */
  done: number
  /** The newest outcomes, at most 100, newest first. `as` is the position of the replay, by this job or, where it is `done`, an earlier one. */
  outcomes: { entry: string; result: 'replayed' | 'refused' | 'done'; as: RecordPosition | null; why: string[] }[]
  /** Why it failed; null when it did not. */
  error: string | null
}
/** `POST /v1/replays/{id}/stop` answers the `Job`. */

/** `GET /v1/audit`, scope `events:read`: who looked at personal values, and who replayed what, newest first, at most 200. */
export interface Audit {
  items: {
    at: string
    by: string
    what: 'PersonalDataViewed' | 'DeadLetterReplayed'
    position: RecordPosition
    reason: string | null
    /** Of a replay. */
    as: RecordPosition | null
    edited: boolean | null
  }[]
  complete: Truth
}
