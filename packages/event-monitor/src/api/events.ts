/** The position of a record in the log. As a path: `a-topic/2/1234`. */
export interface RecordPosition {
  topic: string
  partition: number
  /** A 64-bit number as text. */
  offset: string
}

/** A problem of an event; it has no value of the event. */
export interface Fault {
  /** JSON pointer, such as `/Payload/Field`; empty for the document itself. */
  pointer: string
  message: string
  hint?: string
}

/**
 * How a receiver sees a record:
 * - `valid`: a known event that matches its schema, and that its publisher may publish;
 * - `foreign`: a valid envelope of an event without a schema, which receivers ignore;
 * - `not-utf8`, `not-json`, `not-an-envelope`, `unknown-event` (similar to a known name), `unknown-version`,
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
  /** When it reached the log, by the broker's clock. */
  at: string
  /** CreationDate of the publisher; null without a valid one. */
  createdAt: string | null
  name: string | null
  version: number | null
  /** The Id that every receiver uses: its own, or the one that derives from its record. */
  id: string
  correlationId: string
  traceId: string
  /** The event that it reacts to, by its header. */
  causationId: string | null
  appId: string | null
  appName: string | null
  /** Whether it has Id, CorrelationId and TraceId of its own. */
  variant: 'full' | 'reduced' | null
  validity: Validity
  /** Its first problem; for a dead letter the reason. */
  problem: Fault | null
  /** Bytes of its value. */
  bytes: number
  /** The record that a dead letter or a note of a replay is about. */
  of: RecordPosition | null
}

/**
 * The filter of `GET /v1/events`, `GET /v1/facets`, `GET /v1/rates` and `GET /v1/live`; all given parameters must
 * match. If one is repeated (`topic=a&topic=b`), one value must match. Times are absolute.
 */
export interface EventFilter {
  topic?: string[]
  partition?: number
  name?: string[]
  version?: number[]
  /** AppId or AppName. */
  publisher?: string[]
  validity?: Validity[]
  /** Why it is not valid: the pointer of its first problem, or the reason of a dead letter. */
  why?: string[]
  /** Arrived at this moment or later (ISO 8601). */
  from?: string
  /** Arrived before this moment. */
  to?: string
  /** Id, CorrelationId, TraceId, CausationId, record key, or a GUID in a field of the Payload that the contract names. */
  guid?: string
  /**
   * Words: each must begin a word of name, AppName, topic, validity, reason or a problem. A GUID or a record position
   * (`a-topic/2/12`) among them is looked up. Personal values cannot be found.
   */
  q?: string
}

/** `GET /v1/events` with a filter returns `Page<EventRow>`. */
export interface EventsQuery extends EventFilter {
  /** 1 to 200, by default 50. */
  limit?: number
  cursor?: string
}

/** `GET /v1/facets`: the number of kept events that match a filter, by each property; the largest 50 of each. */
export interface Facets {
  topic: Count[]
  name: Count[]
  /** `Name@1`. */
  type: Count[]
  publisher: Count[]
  validity: Count[]
  /** `invalid-payload /Payload/Field`: validity and pointer, or the reason of a dead letter. */
  why: Count[]
  /** Number of counted events; the newest ones if `isAtLeast`. */
  total: number
  isAtLeast: boolean
  complete: Completeness
}
export interface Count {
  value: string
  count: number
}

/** `GET /v1/rates` takes the filter and `seconds` (60 to 604800, by default 600) up to now or `to`. */
export interface Rates {
  /** Start of the first bucket. */
  from: string
  /** Seconds of each bucket: about 120 buckets. */
  step: number
  /** Events that arrived in each bucket. */
  counts: number[]
  /** The invalid ones among them: neither `valid` nor `foreign`. */
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
  /** The reason why there is no document: `(12 bytes that are not JSON)`. */
  documentNote: string | null
  /** Pointers of masked values. */
  masked: string[]
  /** The record's key: null without one. */
  key: string | null
  /** The record's headers in their order, masked. */
  headers: { name: string; value: string }[]
  /** Validation as any receiver sees it; the faults of `row.validity`. */
  faults: Fault[]
  trust: {
    /**
     * `service`: one of this system; `listed`: in trust.json; `unlisted`: in neither. Null if it is not an envelope.
     */
    publisher: 'service' | 'listed' | 'unlisted' | null
    /** Whether this system signed it. `not-asked`: no key is set here, or it arrived before signatures did. */
    signature: 'ours' | 'wrong' | 'none' | 'not-asked'
    /** The reason why receivers reject it; null if they accept it. */
    refusal: string | null
  }
  /** The event that it reacts to; null if there is none or it is not kept. */
  cause: EventRow | null
  /** Events that name it as their cause, in order; at most 100. */
  effects: EventRow[]
  /** Its dead letters, by app. */
  deadLetters: EventRow[]
  /** The entries of these dead letters, to edit and replay; for a dead letter its own entry. */
  entries: {
    id: string
    services: RejectedBy[]
    reason: string
    state: 'open' | 'replayed'
    deadLetters: RecordPosition[]
  }[]
  /** The neighbouring records in its partition. */
  previous: RecordPosition | null
  following: RecordPosition | null
  /** Address of its trace, if `Telemetry.TracePage` is set. */
  traceUrl: string | null
  complete: Completeness
}

/** A service that rejected a record, and why. */
export interface RejectedBy {
  app: string
  /** Id of its dead letter in `make dead-letters`. */
  id: string
  reason: string
  problem: Fault | null
}

/** `GET /v1/ids/{id}`: the positions of events with this Id; several if it was published or delivered again. */
export interface RecordPositions {
  positions: RecordPosition[]
  complete: Completeness
}

/**
 * `POST /v1/events/{topic}/{partition}/{offset}/reveal`, scope `events:reveal`. The view is recorded before the answer.
 */
export interface RevealRequest {
  /** The reason in 3 to 200 characters; it is recorded. */
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
 * `GET /v1/events/{topic}/{partition}/{offset}/fixture`: a file for `envelope-schema/fixtures/` with made-up values for
 * personal ones, and its name.
 */
export interface Fixture {
  fileName: string
  /** `valid` or `invalid`: the folder. */
  folder: 'valid' | 'invalid'
  document: unknown
}

/** `POST /v1/dry-run`, scope `events:operate`: what each service that consumes the topic would do with it now. */
export type DryRunRequest =
  | { position: RecordPosition }
  /** The edited event (`EditedDocument`). `key` is that of the record at the position. */
  | { position: RecordPosition; edited: EditedDocument }
export interface DryRunResult {
  services: ServiceVerdict[]
}
export type ServiceVerdict = { service: string } & (
  | {
      result: 'dead-letter'
      /** For example `invalid-payload` or `untrusted`. */
      reason: string
      detail: string
      faults: Fault[]
    }
  | { result: 'changes'; changes: StateChange[]; publishes: { topic: string; type: string }[] }
  /** `duplicate`: already handled; `not-handled`: the service has no reaction to it. */
  | { result: 'no-effect'; why: 'duplicate' | 'not-handled'; publishes: { topic: string; type: string }[] }
  /** The service did not answer: it is down or cannot be reached. */
  | { result: 'unknown'; why: string }
)
/** A masked document of a service's store; `before` is null if it is new. */
export interface StateChange {
  key: string
  before: unknown
  after: unknown
}

/**
 * An edited event: JSON text in which `"***{/Payload/Field}***"` stands for the original's value at that pointer,
 * wherever it is put. So a field can be renamed without showing its value. `text` of at most 256 KiB.
 */
export interface EditedDocument {
  text: string
}

/** How complete an answer is. Every view shows it. Times are ISO 8601 in UTC, everywhere in this API. */
export interface Completeness {
  /** Number of records in all topics of the log that are not indexed yet; null while Kafka does not answer. */
  indexLag: number | null
  /** Time when the newest record of the index reached the log; null without records. */
  newest: string | null
  /** Time of the oldest kept record; older ones are not counted anywhere. Null without records. */
  oldestKept: string | null
  /** Number of kept records: by default at most a million, or seven days. */
  kept: number
  /** Records that the index never received; they are always shown. */
  gaps: Gap[]
  /** Partitions that cannot be read now. Their records are missing until then; all others are indexed. */
  unreadable: Unreadable[]
  /** Whether the log is read. The index answers without it; the monitor's log has the reason. */
  isConnected: boolean
}

/** A partition that Kafka cannot serve now. The monitor tries again every second. */
export interface Unreadable {
  topic: string
  /** Null for a topic that Kafka cannot describe. */
  partition: number | null
  /** What is wrong, and what to do. */
  why: string
}

/** Records of a partition that the index does not have. */
export interface Gap {
  topic: string
  partition: number
  /** The first offset that is missing. */
  from: string
  /** The first offset after the gap. */
  to: string
  /** Time of its discovery. */
  at: string
  /**
   * - `truncated`: the log deleted them before they were read;
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
    /** Number of items in the index. A slow count stops: then `isAtLeast`. */
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
  /** Undefined without authentication (loopback). */
  id?: string
  /** `events:read`, `events:operate`, `events:reveal`. */
  scopes: string[]
  /** Name of the caller in the audit; without authentication `anybody on this machine`. */
  recordedAs: string
}
