/** A record position, as a path: `a-topic/2/1234`. */
export interface RecordPosition {
  topic: string
  partition: number
  /** A 64-bit number as text. */
  offset: string
}

/** A problem of an event. It contains no value of the event. */
export interface Fault {
  /** JSON pointer, such as `/Payload/Field`; empty for the whole document. */
  pointer: string
  message: string
  hint?: string
}

/**
 * The result of reading a record as a receiver does:
 * - `valid`: a known event that matches its schema, from a publisher that is allowed to publish it;
 * - `foreign`: a valid envelope of an event without a schema, which receivers ignore;
 * - `not-utf8`, `not-json`, `not-an-envelope`, `unknown-event` (a name similar to a known one), `unknown-version`,
 * `invalid-payload`;
 * - `untrusted`: valid, but its publisher may not publish it (trust.json, or a signature);
 * - `dead-letter`, `replay-note`, `other`: records of a dead-letter topic.
 */
export const validities = [
  'valid',
  'foreign',
  'not-utf8',
  'not-json',
  'not-an-envelope',
  'unknown-event',
  'unknown-version',
  'invalid-payload',
  'untrusted',
  'dead-letter',
  'replay-note',
  'other',
] as const
export type Validity = (typeof validities)[number]

/** A record as a row of a list. A publisher's values are masked: null or `*** (12 characters)`. */
export interface EventRow {
  position: RecordPosition
  /** Time when it reached the log, by the broker's clock. */
  at: string
  /** CreationDate of the publisher; null if missing or invalid. */
  createdAt: string | null
  name: string | null
  version: number | null
  /** The Id that every receiver uses: from the envelope, or derived from the record. */
  id: string
  correlationId: string
  traceId: string
  /** Id of its cause, from the header. */
  causationId: string | null
  appId: string | null
  appName: string | null
  /** True if the envelope has Id, CorrelationId and TraceId. */
  variant: 'full' | 'reduced' | null
  validity: Validity
  /** Its first problem, or the reason of a dead letter. */
  problem: Fault | null
  /** Size of its value in bytes. */
  bytes: number
  /** The record that a dead letter or note refers to. */
  of: RecordPosition | null
}

/**
 * The filter of `GET /v1/events`, `GET /v1/facets`, `GET /v1/rates` and `GET /v1/live`. Events must match all
 * parameters, and one value of a repeated parameter (`topic=a&topic=b`). Times are absolute.
 */
export interface EventFilter {
  topic?: string[]
  partition?: number
  name?: string[]
  version?: number[]
  /** AppId or AppName. */
  publisher?: string[]
  validity?: Validity[]
  /** Reason why the event is invalid: the pointer of its first problem, or the reason of a dead letter. */
  why?: string[]
  /** Earliest arrival (ISO 8601). */
  from?: string
  /** End of the arrivals, exclusive. */
  to?: string
  /**
   * Id, CorrelationId, TraceId, CausationId, record key, or a GUID in a field of the Payload that the contract names.
   */
  guid?: string
  /**
   * Words. Each must begin a word of the name, AppName, topic, validity, reason or a problem. A GUID or a record
   * position (`a-topic/2/12`) among them is looked up. Personal values cannot be found.
   */
  q?: string
}

/** `GET /v1/events` with a filter returns `Page<EventRow>`. */
export interface EventsQuery extends EventFilter {
  /** 1 to 200; the default is 50. */
  limit?: number
  cursor?: string
}

/**
 * `GET /v1/facets`: the number of indexed events that match a filter, by property. Each property has its 50 largest
 * values.
 */
export interface Facets {
  topic: Count[]
  name: Count[]
  /** `Name@1`. */
  type: Count[]
  publisher: Count[]
  validity: Count[]
  /** Validity and pointer, such as `invalid-payload /Payload/Field`, or the reason of a dead letter. */
  why: Count[]
  /** Number of counted events. With `isAtLeast`, only the newest events are counted. */
  total: number
  isAtLeast: boolean
  complete: Completeness
}
export interface Count {
  value: string
  count: number
}

/** `GET /v1/rates` takes the filter and `seconds` before now or `to` (60 to 604800; the default is 600). */
export interface Rates {
  /** Start of the first bucket. */
  from: string
  /** Length of a bucket in seconds. There are about 120 buckets. */
  step: number
  /** Number of events that arrived in each bucket. */
  counts: number[]
  /** Number of those that are neither `valid` nor `foreign`. */
  invalid: number[]
  complete: Completeness
}

/** `GET /v1/events/{topic}/{partition}/{offset}`. */
export interface EventDetail {
  row: EventRow
  /**
   * The masked document: hidden values are `***{pointer}***`, such as `***{/Payload/Field}***`. Null if it is not JSON.
   */
  document: unknown
  /** The reason for a missing document: `(12 bytes that are not JSON)`. */
  documentNote: string | null
  /** JSON pointers of masked values. */
  masked: string[]
  /** The record's key; null without one. */
  key: string | null
  /** The record's headers in their order, masked. */
  headers: { name: string; value: string }[]
  /** The faults behind `row.validity`. */
  faults: Fault[]
  trust: {
    /**
     * `service`: part of this system; `listed`: in trust.json; `unlisted`: neither. Null if the record is not an
     * envelope.
     */
    publisher: 'service' | 'listed' | 'unlisted' | null
    /** The check of its signature. `not-asked`: this system has no key, or the record is older than signatures. */
    signature: 'ours' | 'wrong' | 'none' | 'not-asked'
    /** The reason why receivers reject it; null if they accept it. */
    refusal: string | null
  }
  /** Its cause; null if it has no cause in the index. */
  cause: EventRow | null
  /** Its effects in order, at most 100. */
  effects: EventRow[]
  /** Its dead letters, by app. */
  deadLetters: EventRow[]
  /** The entries of these dead letters; for a dead letter its own entry. */
  entries: {
    id: string
    services: RejectedBy[]
    reason: string
    state: 'open' | 'replayed'
    deadLetters: RecordPosition[]
  }[]
  /** The neighbouring records of its partition. */
  previous: RecordPosition | null
  following: RecordPosition | null
  /** Address of its trace, if `Telemetry.TracePage` is set. */
  traceUrl: string | null
  complete: Completeness
}

/** A service that rejected a record, and the reason. */
export interface RejectedBy {
  app: string
  /** Id of its dead letter in `make dead-letters`. */
  id: string
  reason: string
  problem: Fault | null
}

/** `GET /v1/ids/{id}`: the positions of all records with this Id. */
export interface RecordPositions {
  positions: RecordPosition[]
  complete: Completeness
}

/**
 * `POST /v1/events/{topic}/{partition}/{offset}/reveal`, scope `events:reveal`. The view is recorded before the answer.
 */
export interface RevealRequest {
  /** The reason in 3 to 200 characters, for the audit. */
  reason: string
}
export interface Revealed {
  /** The unmasked document; null if it is not JSON. */
  document: unknown
  /** The bytes as text, if they are UTF-8. */
  text: string | null
  key: string | null
  headers: { name: string; value: string }[]
}

/**
 * `GET /v1/events/{topic}/{partition}/{offset}/fixture`: a file for `envelope-schema/fixtures/`, with examples instead
 * of personal values, and its name.
 */
export interface Fixture {
  fileName: string
  /** Folder of the file. */
  folder: 'valid' | 'invalid'
  document: unknown
}

/** `POST /v1/dry-run`, scope `events:operate`: the effects in each service that consumes the topic. */
export type DryRunRequest =
  | { position: RecordPosition }
  /** The edited event (`EditedDocument`). Its key is that of the record at the position. */
  | { position: RecordPosition; edited: EditedDocument }
export interface DryRunResult {
  services: ServiceVerdict[]
}
export type ServiceVerdict = { service: string } & (
  | {
      result: 'dead-letter'
      /** Reason, such as `invalid-payload` or `untrusted`. */
      reason: string
      detail: string
      faults: Fault[]
    }
  | { result: 'changes'; changes: StateChange[]; publishes: { topic: string; type: string }[] }
  /** `duplicate`: already handled; `not-handled`: the service has no reaction to it. */
  | { result: 'no-effect'; why: 'duplicate' | 'not-handled'; publishes: { topic: string; type: string }[] }
  /** The service did not answer. */
  | { result: 'unknown'; why: string }
)
/** A masked document of a service's store. `before` is null for a new document. */
export interface StateChange {
  key: string
  before: unknown
  after: unknown
}

/**
 * An edited event as JSON text of at most 256 KiB. `"***{/Payload/Field}***"` is replaced by the original's value at
 * that pointer, in any field. So a user can rename a field without seeing its value.
 */
export interface EditedDocument {
  text: string
}

/** The completeness of an answer. All times of this API are ISO 8601 in UTC. */
export interface Completeness {
  /** Number of records in the log that the index still lacks; null while Kafka does not answer. */
  indexLag: number | null
  /** Arrival of the newest indexed record in the log. Null without records. */
  newest: string | null
  /** Arrival of the oldest indexed record. Older ones are not counted anywhere. Null without records. */
  oldestKept: string | null
  /** Number of indexed records: by default at most one million, or of seven days. */
  kept: number
  /** Records that the index never received. */
  gaps: Gap[]
  /** Partitions that cannot be read now. All others are indexed. */
  unreadable: Unreadable[]
  /** True while the monitor reads the log. Otherwise the monitor's log has the reason. */
  isConnected: boolean
}

/** A partition that Kafka cannot serve now. The monitor tries again every second. */
export interface Unreadable {
  topic: string
  /** Null for a topic that Kafka cannot describe. */
  partition: number | null
  /** The problem and the next step. */
  why: string
}

/** A range of a partition that the index never received. */
export interface Gap {
  topic: string
  partition: number
  /** First missing offset. */
  from: string
  /** First offset after the gap. */
  to: string
  /** Time of its discovery. */
  at: string
  /**
   * - `truncated`: the log deleted the records before the monitor read them;
   * - `recreated`: the topic was created again, and starts with a lower offset.
   */
  why: 'truncated' | 'recreated'
}

/** A page of a list, newest first. */
export interface Page<T> {
  items: T[]
  /** `cursor` of the next page; null on the last page. */
  next: string | null
  complete: Completeness & {
    shown: number
    /** Number of matching items in the index. With `isAtLeast`, a slow count was stopped early. */
    total: number
    isAtLeast: boolean
  }
}

/** Problem details (RFC 9457) of a failed request. */
export interface Problem {
  type: string
  title: string
  status: number
  detail?: string
  errors?: { pointer?: string; parameter?: string; detail: string }[]
}

/** `GET /v1/me`: the caller and their scopes. */
export interface Me {
  /** Undefined without authentication. */
  id?: string
  /** `events:read`, `events:operate`, `events:reveal`. */
  scopes: string[]
  /** Name of the caller in the audit; without authentication `anybody on this machine`. */
  recordedAs: string
}
