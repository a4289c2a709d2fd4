import type { Completeness, EventRow, Fault, RecordPosition, Validity } from './events.ts'

/**
 * `GET /v1/missing?seconds=&limit=`: events without an expected reaction, oldest first. `seconds` is 1 to 86400; the
 * default is the time allowed for the reaction.
 */
export interface MissingReactions {
  items: MissingReaction[]
  /** Number of matching events among the newest 20,000 waiting events. */
  total: number
  isAtLeast: boolean
  /** Expected reactions, with their time limits in seconds. */
  rules: { cause: string; effects: string[]; by: string; within: number }[]
  complete: Completeness
}
export interface MissingReaction {
  cause: EventRow
  /** Seconds. */
  waiting: number
  /** Expected events. One of them is enough. */
  expected: string[]
  by: string
  likely: {
    why: 'dead-letter' | 'lag' | 'service-down' | 'index-behind' | 'unknown'
    /** The reason in words: `a-service is 1,204 events behind in a-topic/2`. */
    text: string
    entry: string | null
  }
}

/** `GET /v1/publishers` */
export interface Publishers {
  items: Publisher[]
  complete: Completeness
}
export interface Publisher {
  appId: string | null
  appName: string | null
  trust: 'service' | 'listed' | 'unlisted'
  events: number
  full: number
  reduced: number
  /** Events that are neither `valid` nor `foreign`. */
  invalid: number
  byValidity: { validity: Validity; count: number }[]
  types: { type: string; topic: string; count: number }[]
  firstSeen: string
  lastSeen: string
}

/** `GET /v1/schemas` */
export interface Schemas {
  items: SchemaUse[]
  complete: Completeness
}
export interface SchemaUse {
  /** `Name@Version`. */
  type: string
  name: string
  version: number
  isNewest: boolean
  events: number
  lastSeen: string | null
  publishers: { appId: string | null; appName: string | null; count: number }[]
  /** Services that publish this type, according to services.json. */
  producedBy: string[]
  consumedBy: string[]
  topics: string[]
  /** JSON pointers of personal fields. */
  personal: string[]
  schema: unknown
  compatibility: {
    isCompatible: boolean
    with: string
    changes: { pointer: string; what: string; breaks: boolean }[]
  } | null
}

/** `POST /v1/validate` with `{ text, as?: 'received' | 'full' }`, at most 256 KiB, stores nothing. */
export interface Validated {
  isValid: boolean
  validity: Validity
  type: string | null
  faults: Fault[]
}

/** `GET /v1/health`. */
export interface HealthView {
  at: string
  kafka: {
    isUp: boolean
    brokers: { id: number; address: string; isController: boolean }[]
    /** The reason why Kafka does not answer, or the groups with unreadable offsets. */
    error: string | null
  }
  services: ServiceHealth[]
  groups: GroupLag[]
  topics: TopicHealth[]
  /** A line for each wrong topic setting, with the command that fixes it. */
  settings: string[]
  /** Milliseconds between the arrivals of a cause and its reaction, in the last minute. */
  latency: { reaction: string; p50: number; p95: number; count: number }[]
  index: {
    events: number
    segments: number
    bytesOnDisk: number
    memoryBytes: number
    perSecond: number
    /** Rows that were dropped because a client or the machine was too slow. */
    liveRowsDropped: number
    /** The reason why the log is not indexed, with the next step. The index can still be read. */
    error: string | null
  }
  complete: Completeness
}
export interface ServiceHealth {
  name: string
  /** The state that /readyz returns; `unreachable` without an answer. */
  state: 'ready' | 'not-ready' | 'unreachable'
  reason: string | null
  sidecar: 'up' | 'down' | 'unknown'
  url: string | null
  /** Problems in spite of which the service is ready. */
  warnings: string[]
  /** Records that were delivered more than ten times without success. */
  redelivered: Redelivered[]
}
export interface Redelivered extends RecordPosition {
  deliveries: number
}
export interface GroupLag {
  group: string
  topic: string
  partition: number
  position: string
  end: string
  lag: number
  /** True if `lag` is an upper bound. */
  isAtMost: boolean
}
export interface TopicHealth {
  topic: string
  partitions: number
  /** First and end offset of each partition; null if it is unreadable. Some offsets in this range have no record. */
  oldestOffset: (string | null)[]
  endOffset: (string | null)[]
  /** New offsets per second. The number of new records may be smaller. */
  perSecond: number
  isDead: boolean
}
