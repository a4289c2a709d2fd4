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
 * A column, from left to right. Ids: `client`, `topic:<topic>`, `service:<name>`, `state:<name>`, `dead:<topic>`,
 * `app:<AppName>`.
 */
export interface ConversationColumn {
  id: string
  kind: 'client' | 'service' | 'state' | 'topic' | 'dead' | 'foreign'
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
    /** A request, from `client` to `service:`, which published `row` without a cause. It has no time. */
    | 'request'
    /**
     * A handled record, from `service:` to `state:`: the group is past the record, and no dead letter rejects it. It
     * has no time.
     */
    | 'handled'
  from: string
  to: string
  row: EventRow
  /** Index of the step that caused this one, or whose record it rejects, replays or handles. */
  cause: number | null
  depth: number
  isEdited: boolean
  /** Index of the first step with the same Id. */
  duplicateOf: number | null
  /**
   * Milliseconds by which its time is before the time of its cause. Compares CreationDate (`publisher`) or arrival
   * (`broker`).
   */
  skew: { ms: number; by: 'publisher' | 'broker' } | null
  /** The id of the cause, if the conversation lacks this event. */
  missingCause: string | null
  /** Services that consume it. `handled` is null if their position is unknown. */
  consumers: { column: string; handled: boolean | null; isRejected?: true; reaction: number[] }[]
}

/** `GET /v1/conversations?guid=`: conversations with an Id. */
export interface ConversationsOf {
  items: { correlationId: string; events: number; from: string; to: string; first: RecordPosition }[]
  complete: Completeness
}
