/** A record position: `a-topic/2/1234`. */
export interface RecordPosition {
  topic: string
  partition: number
  /** A 64-bit number as text. */
  offset: string
}

/** A problem of an event. It contains no values of the event. */
export interface Fault {
  /** JSON pointer, such as `/Payload/Field`; empty for the whole document. */
  pointer: string
  message: string
  hint?: string
}

/**
 * The result of reading a record as a receiver does:
 * - `valid`: a known event that matches its schema, from a publisher that may publish it;
 * - `foreign`: a valid envelope of an event without a schema, which receivers ignore;
 * - `not-utf8`, `not-json`, `not-an-envelope`, `unknown-event` (a name similar to a known one), `unknown-version`,
 * `invalid-payload`: events that receivers reject;
 * - `untrusted`: valid, but its publisher may not publish it, according to trust.json or the signature;
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

/** A row of a list. If a value from the publisher is masked, it is null or a text such as `*** (12 characters)`. */
export interface EventRow {
  position: RecordPosition
  /** The record's time: arrival by the broker's clock. In a topic without LogAppendTime, a time that the publisher chose. */
  at: string
  /** CreationDate; null if missing or invalid. */
  createdAt: string | null
  name: string | null
  version: number | null
  /** This and the next two ids are from the envelope, or derived from the record. */
  id: string
  correlationId: string
  traceId: string
  causationId: string | null
  appId: string | null
  appName: string | null
  /** `full`: with Id, CorrelationId and TraceId. */
  variant: 'full' | 'reduced' | null
  validity: Validity
  /** The event's first problem, or the reason of a dead letter. */
  problem: Fault | null
  bytes: number
  /** The record that a dead letter or note refers to. */
  of: RecordPosition | null
}

/**
 * The filter of events, facets, rates and the live stream. An event must match every parameter. If a parameter is
 * repeated, one matching value is enough. `GET /v1/events` with `limit` and `cursor` returns `Page<EventRow>`.
 */
export interface EventFilter {
  topic?: string[]
  partition?: number
  name?: string[]
  version?: number[]
  /** AppId or AppName. */
  publisher?: string[]
  validity?: Validity[]
  /** Pointer of the first problem, or reason of a dead letter. */
  why?: string[]
  /** Arrival at this time or later (ISO 8601). */
  from?: string
  /** Arrival before this time. */
  to?: string
  /**
   * Id, CorrelationId, TraceId, CausationId, record key, or a GUID in a field of the Payload that the contract names.
   */
  guid?: string
  /**
   * Beginnings of words in the name, AppName, topic, validity, reason or problem. Also a GUID, a record position
   * (`a-topic/2/12`) or a whole record key. Finds no personal values.
   */
  q?: string
}

/** `GET /v1/facets`: counts of matching events by property, with the 50 most frequent values of each property. */
export interface Facets {
  topic: Count[]
  name: Count[]
  /** `Name@1`. */
  type: Count[]
  publisher: Count[]
  validity: Count[]
  /** Validity and pointer, such as `invalid-payload /Payload/Field`, or reason of a dead letter. */
  why: Count[]
  total: number
  isAtLeast: boolean
  complete: Completeness
}
export interface Count {
  value: string
  count: number
}

/**
 * `GET /v1/rates` takes the filter and `seconds` (60 to 604800; default 600). It counts the events of these seconds
 * before `to`, or before now.
 */
export interface Rates {
  from: string
  /** Length of a bucket in seconds. */
  step: number
  counts: number[]
  /** Events that are neither `valid` nor `foreign`. */
  invalid: number[]
  complete: Completeness
}

/** `GET /v1/events/{topic}/{partition}/{offset}`. */
export interface EventDetail {
  row: EventRow
  /** A masked value is `***{pointer}***`, such as `***{/Payload/Field}***`. Null if the event is not JSON. */
  document: unknown
  /** Reason for a missing document: `(12 bytes that are not JSON)`. */
  documentNote: string | null
  masked: string[]
  key: string | null
  /** Headers in their original order, masked. */
  headers: { name: string; value: string }[]
  /** Faults that explain `row.validity`. */
  faults: Fault[]
  trust: {
    /** `service`: part of this system; `listed`: in trust.json; `unlisted`: neither. Null without an envelope. */
    publisher: 'service' | 'listed' | 'unlisted' | null
    /** `not-asked`: unchecked, because this system has no key for signatures. */
    signature: 'ours' | 'wrong' | 'none' | 'not-asked'
    /** Reason why receivers reject the event. */
    refusal: string | null
  }
  /** Null if the index does not contain a cause. */
  cause: EventRow | null
  /** At most 100, oldest first. */
  effects: EventRow[]
  deadLetters: EventRow[]
  /** The entries that contain `deadLetters`. If this record is a dead letter, the entry that contains the record. */
  entries: {
    id: string
    services: RejectedBy[]
    reason: string
    state: 'open' | 'replayed'
    deadLetters: RecordPosition[]
  }[]
  previous: RecordPosition | null
  following: RecordPosition | null
  /** Null if `Telemetry.TracePage` is empty. */
  traceUrl: string | null
  complete: Completeness
}

export interface RejectedBy {
  app: string
  /** Id of the app's dead letter. */
  id: string
  reason: string
  problem: Fault | null
}

/** `GET /v1/ids/{id}`: all records with this Id. */
export interface RecordPositions {
  positions: RecordPosition[]
  complete: Completeness
}

/** Completeness of an answer. All times of this API are ISO 8601 in UTC. */
export interface Completeness {
  /** Number of records that wait to be indexed; null while Kafka does not answer. */
  indexLag: number | null
  /** Arrival of the newest indexed record. */
  newest: string | null
  /** Arrival of the oldest indexed record. */
  oldestKept: string | null
  kept: number
  gaps: Gap[]
  unreadable: Unreadable[]
  /** False while Kafka's log cannot be read. The monitor logs the reason. */
  isConnected: boolean
}

export interface Unreadable {
  topic: string
  /** Null for a whole topic. */
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
  /** Time at which the gap was found. */
  at: string
  /**
   * - `truncated`: the log deleted the records before the monitor read them;
   * - `recreated`: the topic was created again, with lower offsets.
   */
  why: 'truncated' | 'recreated'
}

/** Newest first. */
export interface Page<T> {
  items: T[]
  /** The parameter `cursor` for the next page; null on the last page. */
  next: string | null
  complete: Completeness & {
    shown: number
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

/** `GET /v1/me` */
export interface Me {
  /** Undefined without authentication. */
  id?: string
  /** `events:read`, `events:operate`, `events:reveal`, `deadlines:read`, `deadlines:operate`. */
  scopes: string[]
  /** The caller's name in the audit log; without authentication `anybody on this machine`. */
  recordedAs: string
}
