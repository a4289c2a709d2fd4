import type { Completeness, RecordPosition } from './events.ts'

/** A deadline of an entity. The service names them in the same way. */
export interface OpenDeadline {
  service: string
  entity: string
  /** The id of the entity, if it is a GUID; otherwise masked, such as `*** (12 characters)`. */
  id: string
  deadline: string
  due: string
  /** True if it has passed, and was not decided. */
  isFired: boolean
}

/** `GET /v1/deadlines`, scope `deadlines:read`: the open deadlines of each service that has some. */
export interface Deadlines {
  services: ServiceDeadlines[]
  /** Open dead letters of deadlines that have passed, newest first, at most 100. */
  undecided: UndecidedDeadline[]
  undecidedTotal: number
  complete: Completeness
}
export type ServiceDeadlines = { service: string } & (
  | { problem: string }
  | {
      problem: null
      /** The time of the log, by which deadlines pass. */
      now: string
      /** The reason why no deadline passes: its time is unknown, or too many passed deadlines are unhandled. */
      hold: 'clock' | 'lag' | null
      /** Passed deadlines that the service has not handled; null if unknown. */
      unhandled: number | null
      /** Upper bounds, because the index of the service has ended deadlines, too. */
      counts: { entity: string; deadline: string; overdue: number; nextHour: number; nextDay: number; later: number }[]
      /** False if the latest deadlines are not counted. */
      isWhole: boolean
      /** The open deadlines that pass first, at most 100. */
      items: (OpenDeadline & { delayedBy: DelayReason | null })[]
      /** The number of entries of the index that were compared with their entities for `items`. */
      checked: number
    }
)
export type DelayReason = 'undecided' | 'clock' | 'lag' | 'takeover' | 'retry' | 'firing'

export interface UndecidedDeadline {
  /** The id of the dead letter. */
  entry: string
  position: RecordPosition
  /** The arrival of the event of the deadline; null if the index does not contain the event. */
  at: string | null
  service: string
  reason: string
  entity: string | null
  deadline: string | null
  correlationId: string | null
}

/** `GET /v1/conversations/{correlationId}/deadlines`, scope `deadlines:read`: the open deadlines of the entities in a conversation. */
export interface ConversationDeadlines {
  items: OpenDeadline[]
  /** The services that did not answer. */
  problems: { service: string; problem: string }[]
}

/**
 * `POST /v1/deadlines/fire`, scope `deadlines:operate`: lets a deadline pass now. Before the monitor asks the service, it writes the request to the audit
 * log. Fails with 409 if the deadline is not open at `due`, or has passed. Returns `{ isFired: true }`.
 */
export type FireRequest = Pick<OpenDeadline, 'service' | 'entity' | 'id' | 'deadline' | 'due'>
