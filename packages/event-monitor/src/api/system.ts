import type { EventRow, Fault, Truth, Validity } from './events.ts'

/**
 * `GET /v1/missing?seconds=&limit=`: events without an expected reaction after so many seconds (1 to 86400; without, as long as the reaction
 * may take), oldest first.
 */
export interface MissingReactions {
  items: MissingReaction[]
  /** The newest twenty thousand are counted: then `isAtLeast`. */
  total: number
  isAtLeast: boolean
  /** Expected reactions, each within so many seconds. */
  rules: { cause: string; effects: string[]; by: string; within: number }[]
  complete: Truth
}
export interface MissingReaction {
  cause: EventRow
  /** Seconds. */
  waiting: number
  /** Names of the events of which one should have come. */
  expected: string[]
  /** The service that should have reacted. */
  by: string
  likely: {
    why: 'dead-letter' | 'lag' | 'service-down' | 'index-behind' | 'unknown'
    /** In words: `a-service is 1,204 events behind in a-topic/2`. */
    text: string
    /** A dead letter's entry, to be opened. */
    entry: string | null
  }
}

/** `GET /v1/publishers`: who says what, of all that is kept. */
export interface Publishers {
  items: Publisher[]
  complete: Truth
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

/** `GET /v1/schemas`: what events there are, and which versions are in use. */
export interface Schemas {
  items: SchemaUse[]
  complete: Truth
}
export interface SchemaUse {
  /** `Name@Version`. */
  type: string
  name: string
  version: number
  /** Of its name. */
  isNewest: boolean
  events: number
  lastSeen: string | null
  /** Who sends it, with how many. */
  publishers: { appId: string | null; appName: string | null; count: number }[]
  /** Services that produce and handle it, by services.json and trust. */
  producedBy: string[]
  consumedBy: string[]
  topics: string[]
  /** JSON pointers of what is personal. */
  personal: string[]
  schema: unknown
  /** Against the version before; null for the first. */
  compatibility: {
    isCompatible: boolean
    with: string
    changes: { pointer: string; what: string; breaks: boolean }[]
  } | null
}

/** `POST /v1/validate` with `{ text, as?: 'received' | 'full' }` (256 KiB): is this an event? Nothing of it is kept. */
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
    /** Why it does not answer; if it is up, which consumer group's offsets it cannot read. */
    error: string | null
  }
  services: ServiceHealth[]
  groups: GroupLag[]
  topics: TopicHealth[]
  /** A line for each setting of a topic that is not as the system relies on, with the command that ends that. */
  settings: string[]
  /** Of the last minute: milliseconds from a cause's arrival in the log to its reaction's. Null without any. */
  latency: { reaction: string; p50: number; p95: number; count: number }[]
  index: {
    events: number
    segments: number
    bytesOnDisk: number
    memoryBytes: number
    perSecond: number
    /** Rows that were left out of live views because clients or the machine were slow. */
    liveRowsDropped: number
    /** Why the log is not indexed now, and what to do, such as for a full disk; null when it is. What is indexed can still be read. */
    error: string | null
  }
  complete: Truth
}
export interface ServiceHealth {
  name: string
  /** As its /readyz says; `unreachable` when it does not answer. */
  state: 'ready' | 'not-ready' | 'unreachable'
  reason: string | null
  sidecar: 'up' | 'down' | 'unknown'
  url: string | null
  /** Records that were delivered to it more than ten times and are not handled yet. */
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
  /** Events that the group has still to handle: 0 only if there is none. Offsets that hold no event are left out. */
  lag: number
  /** Whether `lag` is an upper bound, since they are too many to be counted. */
  isAtMost: boolean
}
export interface TopicHealth {
  topic: string
  partitions: number
  /**
   * Of each partition; null where Kafka cannot serve it (`Truth.unreadable`). Between the two there are as many records, or fewer: some
   * offsets hold none.
   */
  oldestOffset: (string | null)[]
  endOffset: (string | null)[]
  /** Offsets that are taken in a second: as many records, or fewer. */
  perSecond: number
  isDead: boolean
}
