/**
 * Record headers of dead letters and of what is sent back. Logs are kept for ever, so these names never change: where one
 * of them says "replay", everything else says resend.
 */

/** Of a record that was resent: the place where its event first stood, as text. See `originOf`. */
export const resentFrom = 'replayed-from'

/** Of a record that was resent: the id of the record that failed first (`recordIdOf`). A claim, like `replayed-from`. */
export const resentRecord = 'replayed-record'

/**
 * Of a reaction: when the event that it reacts to reached the log, by the broker's clock, in milliseconds since 1970. For metrics alone: on a
 * topic that others write it may be anything.
 */
export const causedAt = 'caused-at'

/** Of a dead letter (docs/operations.md). */
export const letterHeaders = {
  id: 'deadletter-id',
  reason: 'deadletter-reason',
  detail: 'deadletter-detail',
  app: 'deadletter-app',
  topic: 'deadletter-topic',
  partition: 'deadletter-partition',
  offset: 'deadletter-offset',
  time: 'deadletter-time',
  /** Of an event that was resent and failed again: the place of that record, as text. */
  resent: 'deadletter-replay',
  /** A key that is no text, as it was delivered: URL-escaped (Go's url.QueryEscape). */
  key: 'deadletter-key',
  /** Id and time (milliseconds since 1970) of the record that failed; a last-resort letter and those of 0.1.0 have neither. */
  record: 'deadletter-record',
  arrived: 'deadletter-arrived',
  /** Of a dead letter without its event: the SHA-256 of the event's bytes in hex, or `unread` when not even these were read. */
  cut: 'deadletter-cut',
} as const

/** Of the note on `<topic>.dead` that an event was resent: the record that failed, and the new one, each by its place and its id. */
export const noteHeaders = {
  of: 'replay-of',
  ofRecord: 'replay-of-record',
  as: 'replayed-as',
  asRecord: 'replayed-as-record',
  edited: 'replay-edited',
} as const
