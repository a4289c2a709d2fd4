import type { EventRow, RecordPosition, Truth } from './events.ts'

/** `GET /v1/conversations/{correlationId}`: all that is kept of one, at most 5,000 events, in the order of cause and effect. */
export interface Conversation {
  correlationId: string
  columns: ConversationColumn[]
  steps: Step[]
  /** Records, which are the steps but `request` and `handled`. More than 5,000: the oldest are shown, and of none is said that it was handled. */
  total: number
  complete: Truth
}

/** In the order from left to right. Ids: `client`, `topic:<topic>`, `service:<name>`, `state:<name>`, `dead:<topic>`, `app:<AppName>`. */
export interface ConversationColumn {
  id: string
  kind: 'client' | 'service' | 'state' | 'topic' | 'dead' | 'foreign'
  title: string
}

/**
 * One thing that happened. Steps are in order: an effect after its cause, records of a partition by offset; only what neither binds is
 * ordered by time.
 */
export interface Step {
  kind: /** A service published: from `service:` (or `app:` when foreign) to `topic:`. */
    | 'event'
    /** From `topic:` to `dead:`. */
    | 'dead-letter'
    /** From `dead:` to `topic:`; `isEdited` says whether somebody edited it. */
    | 'replay'
    /** From `client` to `service:`, which published `row` without a cause: it was asked to. When is not known; the step stands before it. */
    | 'request'
    /** From `service:` to `state:`: its group is behind `row`, and it made no dead letter of it. When is not known; the step stands after it. */
    | 'handled'
  from: string
  to: string
  row: EventRow
  /** The step (index) that this one reacts to, or whose record it is a dead letter, a replay or a handling of; null when unknown. */
  cause: number | null
  /** 0 for what has no known cause. */
  depth: number
  isEdited: boolean
  /** The Id came before: published or delivered again. Index of the first. */
  duplicateOf: number | null
  /**
   * Its clock says that it came before its cause, by so many milliseconds: CreationDate when `by` is `publisher`, arrival when it is
   * `broker`. Null without skew.
   */
  skew: { ms: number; by: 'publisher' | 'broker' } | null
  /** What it names as cause is not kept, or not in this conversation. */
  missingCause: string | null
  /**
   * Services that consume it, by services.json: arrows from the topic. `handled` null when their position is not known; `isSetAside` when
   * they made a dead letter of it.
   */
  consumers: { column: string; handled: boolean | null; isRejected?: true; reaction: number[] }[]
}

/** `GET /v1/conversations` takes `guid`: any Id of an event in it. Answers the conversations it is in. */
export interface ConversationsOf {
  items: { correlationId: string; events: number; from: string; to: string; first: RecordPosition }[]
  complete: Truth
}
