import type { Completeness, EventRow, Fault, Validity } from './events.ts'

/**
 * `GET /v1/missing?seconds=&limit=`: events without an expected reaction after some seconds (1 to 86400; by default the
 * time that the reaction may take), oldest first.
 */
export interface MissingReactions {
  items: MissingReaction[]
  /** The newest 20,000 are counted; if there are more, `isAtLeast`. */
  total: number
  isAtLeast: boolean
  /** Expected reactions, each within so many seconds. */
  rules: { cause: string; effects: string[]; by: string; within: number }[]
  complete: Completeness
}
export interface MissingReaction {
  cause: EventRow
  /** Seconds. */
  waiting: number
  /** Names of the expected events, of which one is enough. */
  expected: string[]
  /** The service that is expected to react. */
  by: string
  likely: {
    why: 'dead-letter' | 'lag' | 'service-down' | 'index-behind' | 'unknown'
    /** The reason in words: `a-service is 1,204 events behind in a-topic/2`. */
    text: string
    /** Entry of the dead letter. */
    entry: string | null
  }
}

/** `GET /v1/publishers`: publishers of the kept events. */
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
  /** Neither `valid` nor `foreign`. */
  invalid: number
  byValidity: { validity: Validity; count: number }[]
  types: { type: string; topic: string; count: number }[]
  firstSeen: string
  lastSeen: string
}

/** `GET /v1/schemas`: event types, and the versions in use. */
export interface Schemas {
  items: SchemaUse[]
  complete: Completeness
}
export interface SchemaUse {
  /** `Name@Version`. */
  type: string
  name: string
  version: number
  /** Whether it is the newest version of its name. */
  isNewest: boolean
  events: number
  lastSeen: string | null
  /** Publishers with their number of events. */
  publishers: { appId: string | null; appName: string | null; count: number }[]
  /** Services that publish and handle it, by services.json and trust. */
  producedBy: string[]
  consumedBy: string[]
  topics: string[]
  /** JSON pointers of personal fields. */
  personal: string[]
  schema: unknown
  /** Compatibility with the previous version; null for the first. */
  compatibility: {
    isCompatible: boolean
    with: string
    changes: { pointer: string; what: string; breaks: boolean }[]
  } | null
}

/**
 * `POST /v1/validate` with `{ text, as?: 'received' | 'full' }` (256 KiB) validates a text as an event, and stores
 * nothing.
 */
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
    /** The reason why it does not answer; if it is up, the consumer groups whose offsets cannot be read. */
    error: string | null
  }
  services: ServiceHealth[]
  groups: GroupLag[]
  topics: TopicHealth[]
  /** A line for each topic setting that differs from the required one, with the command that fixes it. */
  settings: string[]
  /** Latencies of the last minute: milliseconds between the arrivals of a cause and its reaction. */
  latency: { reaction: string; p50: number; p95: number; count: number }[]
  index: {
    events: number
    segments: number
    bytesOnDisk: number
    memoryBytes: number
    perSecond: number
    /** Number of rows that live views lost because clients or the machine were slow. */
    liveRowsDropped: number
    /**
     * The reason why the log is not indexed now, with the next step, such as for a full disk; otherwise null. The index
     * can still be read.
     */
    error: string | null
  }
  complete: Completeness
}
export interface ServiceHealth {
  name: string
  /** State by its /readyz; `unreachable` if it does not answer. */
  state: 'ready' | 'not-ready' | 'unreachable'
  reason: string | null
  sidecar: 'up' | 'down' | 'unknown'
  url: string | null
  /** Records that were delivered more than ten times and are not handled yet. */
  redelivered: Redelivered[]
}
export interface Redelivered {
  topic: string
  partition: number
  offset: string
  deliveries: number
}
export interface GroupLag {
  group: string
  topic: string
  partition: number
  position: string
  end: string
  /**
   * Number of events that the group has not handled: 0 only if there is none. Offsets without an event are left out.
   */
  lag: number
  /** Whether `lag` is an upper bound, because there are too many to count. */
  isAtMost: boolean
}
export interface TopicHealth {
  topic: string
  partitions: number
  /**
   * One offset for each partition; null if Kafka cannot serve it (`Completeness.unreadable`). There are at most as many
   * records between the two, since some offsets have none.
   */
  oldestOffset: (string | null)[]
  endOffset: (string | null)[]
  /** Rate of new offsets: at least the rate of records. */
  perSecond: number
  isDead: boolean
}
