import type { Completeness, EventRow, RecordPosition } from './events.ts'

/**
 * `GET /v1/conversations/{correlationId}`: the steps of a conversation, at most 5,000, in the order of cause and
 * effect.
 */
export interface Conversation {
  correlationId: string
  columns: ConversationColumn[]
  steps: Step[]
  /**
   * Number of records: all steps except `request` and `handled`. Above 5,000, the answer has the oldest records and no
   * `handled` steps.
   */
  total: number
  complete: Completeness
}

/**
 * A column; the order is from left to right. Ids: `client`, `topic:<topic>`, `service:<name>`, `state:<name>`,
 * `dead:<topic>`, `app:<AppName>`.
 */
export interface ConversationColumn {
  id: string
  kind: 'client' | 'service' | 'state' | 'topic' | 'dead' | 'foreign'
  title: string
}

/**
 * One step of a conversation. Effects follow their causes. Records of a partition are in the order of offsets, all
 * others in the order of time.
 */
export interface Step {
  kind: /** A publication, from `service:` (or `app:` for outside publishers) to `topic:`. */
    | 'event'
    /** A rejection, from `topic:` to `dead:`. */
    | 'dead-letter'
    /** A replay, from `dead:` to `topic:`; `isEdited` if an operator edited the event. */
    | 'replay'
    /**
     * A request, from `client` to `service:`, which then published `row` without a cause. The step precedes the event;
     * its time is unknown.
     */
    | 'request'
    /**
     * The handling of `row`, from `service:` to `state:`: its group has passed the record without rejecting it. The
     * step follows the event; its time is unknown.
     */
    | 'handled'
  from: string
  to: string
  row: EventRow
  /** Index of the step that caused this one, or whose record it rejects, replays or handles; null if unknown. */
  cause: number | null
  /** Number of steps from the first step of the chain of causes, which has 0. */
  depth: number
  isEdited: boolean
  /** Index of the first step with the same Id, for an event that was published or delivered again. */
  duplicateOf: number | null
  /**
   * Milliseconds by which its clock is before that of its cause; null without skew. `by` is `publisher` for
   * CreationDate, and `broker` for the arrival.
   */
  skew: { ms: number; by: 'publisher' | 'broker' } | null
  /** Id of its cause, if this is not in the index or in another conversation. */
  missingCause: string | null
  /**
   * Services that consume it, by services.json. `handled` is null if their position is unknown. `isRejected` is true if
   * they wrote a dead letter for it.
   */
  consumers: { column: string; handled: boolean | null; isRejected?: true; reaction: number[] }[]
}

/** `GET /v1/conversations?guid=`: the conversations with any Id of an event. */
export interface ConversationsOf {
  items: { correlationId: string; events: number; from: string; to: string; first: RecordPosition }[]
  complete: Completeness
}
