import type { Fault, RecordPosition } from './events.ts'

/**
 * `POST /v1/events/{topic}/{partition}/{offset}/reveal`, scope `events:reveal`. Before the monitor answers, it writes
 * the request to the audit log.
 */
export interface RevealRequest {
  /** 3 to 200 characters, for the audit log. */
  reason: string
}
export interface Revealed {
  /** Null if the event is not JSON. */
  document: unknown
  /** The event's bytes as text, if they are UTF-8. */
  text: string | null
  key: string | null
  headers: { name: string; value: string }[]
}

/**
 * `GET /v1/events/{topic}/{partition}/{offset}/fixture`: the event as a test of a service, with example values instead
 * of masked values. For a dead letter, the event that it refers to. If only the original bytes show the event's fault,
 * the request needs the scope `events:reveal`, and is written to the audit log.
 */
export interface Fixture {
  fileName: string
  /** The folder of the service that rejected the event, or the folder of each service that consumes its topic. */
  folders: string[]
  /** The content of the file: a `FixtureFile` of @orderflow/test-kit/scenario. */
  content: {
    description: string
    topic: string
    /** Missing for a record without a key, and for a binary key. */
    key?: string
    envelope?: unknown
    /** The bytes of a record that is not JSON, or whose fault example values would remove. */
    valueBase64?: string
    /** The reason of the newest dead letter about the event. */
    reason?: string
  }
}

/** `POST /v1/dry-run`, scope `events:operate`: effects in each service that consumes the topic. */
export type DryRunRequest =
  | { position: RecordPosition }
  /** `edited` replaces the event at the position. */
  | { position: RecordPosition; edited: EditedDocument }
export interface DryRunResult {
  services: ServiceVerdict[]
}
export type ServiceVerdict = { service: string } & (
  | ({
      result: 'dead-letter'
      /** Such as `invalid-payload` or `untrusted`. */
      reason: string
      detail: string
      faults: Fault[]
    } & Conflicts)
  | ({ result: 'changes'; changes: StateChange[]; publishes: { topic: string; type: string }[] } & Conflicts)
  /** `duplicate`: already handled; `not-handled`: the service has no reaction. */
  | ({
      result: 'no-effect'
      why: 'duplicate' | 'not-handled'
      publishes: { topic: string; type: string }[]
    } & Conflicts)
  | { result: 'unknown'; why: string }
)
interface Conflicts {
  /**
   * The service has accepted an earlier record of this event, with other values in these fields. JSON pointers; empty without a conflict. `/Name`: the
   * service does not handle the edited event.
   */
  conflicts: string[]
}
/** `before` and `after` are masked. `before` is null for a new document. */
export interface StateChange {
  key: string
  before: unknown
  after: unknown
}

/**
 * An edited event as JSON text, at most 256 KiB. The monitor replaces each placeholder, such as
 * `"***{/Payload/Field}***"`, by the original value. A placeholder is valid once, in its own field. Users can also rename this field
 * to a personal field, without seeing its value.
 */
export interface EditedDocument {
  text: string
}
