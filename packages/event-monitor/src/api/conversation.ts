import type { Completeness, EventRow, RecordPosition } from './events.ts'

/**
 * `GET /v1/conversations/{correlationId}`: the kept events of a conversation, at most 5,000, in the order of cause and
 * effect.
 */
export interface Conversation {
  correlationId: string
  columns: ConversationColumn[]
  steps: Step[]
  /**
   * Number of records: all steps except `request` and `handled`. Above 5,000 the oldest are shown, and `handled` steps
   * are left out.
   */
  total: number
  complete: Completeness
}

/**
 * A column, in the order from left to right. Ids: `client`, `topic:<topic>`, `service:<name>`, `state:<name>`,
 * `dead:<topic>`, `app:<AppName>`.
 */
export interface ConversationColumn {
  id: string
  kind: 'client' | 'service' | 'state' | 'topic' | 'dead' | 'foreign'
  title: string
}

/**
 * One step of a conversation. An effect follows its cause, records of a partition are ordered by offset, and otherwise
 * time decides.
 */
export interface Step {
  kind: /** A service published: from `service:` (or `app:` when foreign) to `topic:`. */
    | 'event'
    /** From `topic:` to `dead:`. */
    | 'dead-letter'
    /** From `dead:` to `topic:`; `isEdited` if an operator edited it. */
    | 'replay'
    /**
     * From `client` to `service:`, which published `row` without a cause, so a request caused it. Its time is unknown;
     * the step precedes the event.
     */
    | 'request'
    /**
     * From `service:` to `state:`: its group has passed `row` without rejecting it. The time is unknown; the step
     * follows the event.
     */
    | 'handled'
  from: string
  to: string
  row: EventRow
  /** Index of the step that this one reacts to, or whose record it rejects, replays or handles; null if unknown. */
  cause: number | null
  /** Distance from a step without a known cause, which has 0. */
  depth: number
  isEdited: boolean
  /** Index of the first step with the same Id, which was published or delivered again. */
  duplicateOf: number | null
  /**
   * Set if its clock is before its cause's by some milliseconds: CreationDate if `by` is `publisher`, arrival if it is
   * `broker`. Null without skew.
   */
  skew: { ms: number; by: 'publisher' | 'broker' } | null
  /** The id of its cause, if that is not kept or not in this conversation. */
  missingCause: string | null
  /**
   * Services that consume it, by services.json: arrows from the topic. `handled` is null if their position is unknown;
   * `isRejected` if they wrote a dead letter for it.
   */
  consumers: { column: string; handled: boolean | null; isRejected?: true; reaction: number[] }[]
}

/** `GET /v1/conversations` with `guid`, any Id of an event: the conversations that have it. */
export interface ConversationsOf {
  items: { correlationId: string; events: number; from: string; to: string; first: RecordPosition }[]
  complete: Completeness
}
