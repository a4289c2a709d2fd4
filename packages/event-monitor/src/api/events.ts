/** Where a record stands in the log. As a path: `a-topic/2/1234`. */
export interface RecordPosition {
  topic: string
  partition: number
  /** A 64-bit number as text. */
  offset: string
}

/** One thing that is wrong with an event; holds no value of it. */
export interface Fault {
  /** JSON pointer, such as `/Payload/Field`; empty for the document itself. */
  pointer: string
  message: string
  hint?: string
}

/**
 * How a receiver sees a record:
 * - `valid`: a known event, by its schema, that its publisher may say;
 * - `foreign`: a right envelope of an event that no schema is for, which everybody lets pass;
 * - `not-utf8`, `not-json`, `not-an-envelope`, `unknown-event` (nearly the name of a known one), `unknown-version`, `invalid-payload`;
 * - `untrusted`: right, but its publisher may not say it (trust.json, or a signature);
 * - `dead-letter`, `replay-note`, `other`: what stands on a dead-letter topic.
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

/** A record as a row of a list. What a publisher wrote is masked: null or `*** (12 characters)` where it may not be shown. */
export interface EventRow {
  position: RecordPosition
  /** When it reached the log, by the broker's clock. */
  at: string
  /** CreationDate, as its publisher says; null when there is none that can be read. */
  createdAt: string | null
  name: string | null
  version: number | null
  /** The Id that every receiver has for it: its own, or the one that its place gives it. */
  id: string
  correlationId: string
  traceId: string
  /** The event that it reacts to, as its header says. */
  causationId: string | null
  appId: string | null
  appName: string | null
  /** Whether it has Id, CorrelationId and TraceId of its own. */
  variant: 'full' | 'reduced' | null
  validity: Validity
  /** The first of its problems; of a dead letter the reason. */
  problem: Fault | null
  /** Bytes of its value. */
  bytes: number
  /** Of a dead letter and a note of a replay: of which record. */
  of: RecordPosition | null
}

/**
 * What `GET /v1/events`, `GET /v1/facets`, `GET /v1/rates` and `GET /v1/live` filter by; all that is given must hold. Of a filter that
 * is given several times (`topic=a&topic=b`) one must. Times are absolute.
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
  /** Arrived before. */
  to?: string
  /** Id, CorrelationId, TraceId, CausationId, record key, or a GUID in a field of the Payload that the contract names. */
  guid?: string
  /**
   * Words: each must begin a word of name, AppName, topic, validity, reason or a problem; a GUID or a place (`a-topic/2/12`)
   * among them counts as such. No personal value is found by it.
   */
  q?: string
}

/** `GET /v1/events` takes the filter, too, and answers `Page<EventRow>`. */
export interface EventsQuery extends EventFilter {
  /** 1 to 200, 50 without. */
  limit?: number
  cursor?: string
}

/** `GET /v1/facets`: how many of the kept events there are, by each property, under the filter; the largest 50 of each. */
export interface Facets {
  topic: Count[]
  name: Count[]
  /** `Name@1`. */
  type: Count[]
  publisher: Count[]
  validity: Count[]
  /** `invalid-payload /Payload/Field`: validity and pointer, or the reason of a dead letter. */
  why: Count[]
  /** How many events the counts are of; the newest ones when `isAtLeast`. */
  total: number
  isAtLeast: boolean
  complete: Truth
}
export interface Count {
  value: string
  count: number
}

/** `GET /v1/rates` takes the filter and `seconds` (60 to 604800, 600 without) up to now or `to`. */
export interface Rates {
  /** Where the first bucket begins. */
  from: string
  /** Seconds of each bucket: about 120 buckets. */
  step: number
  /** Events that arrived in each bucket. */
  counts: number[]
  /** Of those, the ones that are neither `valid` nor `foreign`. */
  invalid: number[]
  complete: Truth
}

/** `GET /v1/events/{topic}/{partition}/{offset}`. */
export interface EventDetail {
  row: EventRow
  /** The document, masked: what may not be shown is `***{pointer}***`, such as `***{/Payload/Field}***`. Null when it is no JSON. */
  document: unknown
  /** Why there is no document: `(12 bytes that are not JSON)`. */
  documentNote: string | null
  /** Pointers of what is masked. */
  masked: string[]
  /** The record's key: null without one. */
  key: string | null
  /** The record's headers in their order, masked. */
  headers: { name: string; value: string }[]
  /** Validation as any receiver sees it; the faults of `row.validity`. */
  faults: Fault[]
  trust: {
    /** `service`: one of ours; `listed`: by trust.json; `unlisted`: in neither. Null for what is no envelope. */
    publisher: 'service' | 'listed' | 'unlisted' | null
    /** Whether it is signed, and by us. `not-asked`: no key is set here, or it arrived before signatures did. */
    signature: 'ours' | 'wrong' | 'none' | 'not-asked'
    /** Why receivers set it aside; null when they do not. */
    refusal: string | null
  }
  /** What it reacts to; null when there is none or it is not kept. */
  cause: EventRow | null
  /** What names it as cause, in order; at most 100. */
  effects: EventRow[]
  /** Its dead letters, by app. */
  deadLetters: EventRow[]
  /** What those are to whoever corrects it; of a dead letter, what it is. */
  entries: {
    id: string
    services: RejectedBy[]
    reason: string
    state: 'open' | 'replayed'
    deadLetters: RecordPosition[]
  }[]
  /** The records on both sides in its partition. */
  previous: RecordPosition | null
  following: RecordPosition | null
  /** Where traces are shown, when somebody said so (`Telemetry.TracePage`). */
  traceUrl: string | null
  complete: Truth
}

/** A service that rejected a record, and why. */
export interface RejectedBy {
  app: string
  /** Of its dead letter, in `make dead-letters`. */
  id: string
  reason: string
  problem: Fault | null
}

/** `GET /v1/ids/{id}`: where events with this Id stand; several when it was published or delivered again. */
export interface RecordPositions {
  positions: RecordPosition[]
  complete: Truth
}

/** `POST /v1/events/{topic}/{partition}/{offset}/reveal`, scope `events:reveal`. Recorded before it is answered. */
export interface RevealRequest {
  /** Why, in a few words: 3 to 200 characters; it is recorded. */
  reason: string
}
export interface Revealed {
  /** The document as it is; null when it is no JSON. */
  document: unknown
  /** The bytes as text, where they are UTF-8. */
  text: string | null
  key: string | null
  headers: { name: string; value: string }[]
}

/**
 * `GET /v1/events/{topic}/{partition}/{offset}/fixture`: a file for `envelope-schema/fixtures/`, with made-up values in place of what is
 * personal, under a name to save it by.
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
  /** As it was edited; see `EditedDocument`. `key` is that of the record at the place. */
  | { position: RecordPosition; edited: EditedDocument }
export interface DryRunResult {
  services: ServiceVerdict[]
}
export type ServiceVerdict = { service: string } & (
  | {
      result: 'dead-letter'
      /** Such as `invalid-payload`, `untrusted`, `conflicting-order`. */
      reason: string
      detail: string
      faults: Fault[]
    }
  | { result: 'changes'; changes: StateChange[]; publishes: { topic: string; type: string }[] }
  /** `duplicate`: already known; `not-handled`: the service has no reaction to it. */
  | { result: 'no-effect'; why: 'duplicate' | 'not-handled'; publishes: { topic: string; type: string }[] }
  /** The service did not answer: down, or not reached. */
  | { result: 'unknown'; why: string }
)
/** A document of a service's store, masked; `before` null when it is new. */
export interface StateChange {
  key: string
  before: unknown
  after: unknown
}

/**
 * An event as somebody edited it: JSON text in which `"***{/Payload/Field}***"` stands for the value that the original has at that
 * pointer, wherever it is put. So a field can be renamed without its value being seen. `text` of at most 256 KiB.
 */
export interface EditedDocument {
  text: string
}

/** How complete an answer is. Every view shows it. Times are ISO 8601 in UTC, everywhere in this API. */
export interface Truth {
  /** Records that are in the log and not yet in the index, of all topics; null while Kafka does not say. */
  indexLag: number | null
  /** When the newest record of the index reached the log; null while there is none. */
  newest: string | null
  /** The oldest record that is kept; what is older was there, and is not counted anywhere. Null while there is none. */
  oldestKept: string | null
  /** Records that are kept: at most a million, or seven days. */
  kept: number
  /** What the index never got: shown, and never hidden. */
  gaps: Gap[]
  /** Partitions that cannot be read now. Their records are missing until they can; all others are indexed. */
  unreadable: Unreadable[]
  /** Whether the log is read. The index answers without it, and why it is not is in the monitor's own log. */
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
  /** The first that is there again. */
  to: string
  /** When it was noticed. */
  at: string
  /**
   * - `truncated`: the log had dropped them before they were read;
   * - `recreated`: the topic was made anew, and begins again with a lower offset.
   */
  why: 'truncated' | 'recreated'
}

/** A page of a list, newest first. */
export interface Page<T> {
  items: T[]
  /** Goes on with `cursor=`; null on the last page. */
  next: string | null
  complete: Truth & {
    shown: number
    /** How many there are in the index. A count that would take long stops: then `isAtLeast`. */
    total: number
    isAtLeast: boolean
  }
}

/** RFC 9457. What each request may be answered instead. */
export interface Problem {
  type: string
  title: string
  status: number
  detail?: string
  errors?: { pointer?: string; parameter?: string; detail: string }[]
}

/** `GET /v1/me`: what whoever looks may do here. */
export interface Me {
  /** Undefined in JSON where nobody is asked who they are (loopback). */
  id?: string
  /** `events:read`, `events:operate`, `events:reveal`. */
  scopes: string[]
  /** Whether seeing a personal value is recorded under a name, or, where nobody is asked, as `anybody on this machine`. */
  recordedAs: string
}
