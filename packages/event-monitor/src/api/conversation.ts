import type { Completeness, EventRow, RecordPosition } from './events.ts'

/** `GET /v1/conversations/{correlationId}`: at most 5,000 steps, in the order of cause and effect. */
export interface Conversation {
  correlationId: string
  columns: ConversationColumn[]
  steps: Step[]
  /** The total number of records. Above 5,000, the answer contains only the oldest records, and no `handled` steps. */
  total: number
  complete: Completeness
}

/**
 * Columns are listed from left to right. Ids: `client`, `time`, `topic:<topic>`, `service:<name>`, `state:<name>`,
 * `dead:<topic>`, `app:<AppName>`.
 */
export interface ConversationColumn {
  id: string
  kind: 'client' | 'time' | 'service' | 'state' | 'topic' | 'dead' | 'foreign'
  title: string
}

/**
 * Effects follow their causes. Steps of one partition are in the order of offsets, all other steps in the order of
 * time.
 */
export interface Step {
  kind: /** A publication, from `service:` or `app:` to `topic:`. */
    | 'event'
    /** A rejection, from `topic:` to `dead:`. */
    | 'dead-letter'
    /** A replay, from `dead:` to `topic:`. */
    | 'replay'
    /** A request, from `client` to `service:`. The service then published `row`, which has no cause. */
    | 'request'
    /** A deadline that has passed, from `time` to `service:`. The service then published `row`. */
    | 'time'
    /** A handled record, from `service:` to `state:`. The service has read past it, and wrote no dead letter for it. */
    | 'handled'
  from: string
  to: string
  row: EventRow
  /**
   * Index of the step that caused this step. For `dead-letter` and `handled`: the step of the record. For `replay`: the
   * step of the dead letter, or of the first failed record if the dead letter is missing.
   */
  cause: number | null
  depth: number
  isEdited: boolean
  /** The name of the deadline that has passed, for `time`, or that an operator let pass, for `request`. */
  deadline?: string
  /** Index of the first step with the same Id. */
  duplicateOf: number | null
  /** Set if the step seems earlier than its cause, by CreationDate (`publisher`) or by arrival (`broker`). */
  skew: { ms: number; by: 'publisher' | 'broker' } | null
  /** The Id of the cause, if the conversation does not contain the cause. */
  missingCause: string | null
  /** Services that consume the topic. `handled` is null if the position of a service is unknown. */
  consumers: { column: string; handled: boolean | null; isRejected?: true; reaction: number[] }[]
}

/** `GET /v1/conversations?guid=`: conversations that contain a GUID. */
export interface ConversationsOf {
  items: { correlationId: string; events: number; from: string; to: string; first: RecordPosition }[]
  complete: Completeness
}
