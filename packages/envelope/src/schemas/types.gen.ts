// Generated from envelope-schema/schemas/ by make generate. Do not edit.

/**
 * What a publisher on the platform sends: every field that tracing needs.
 */
export interface FullEnvelope {
  /**
   * Extra metadata, and no personal data. A reaction to another event carries that event's Id in CausationId.
   */
  Headers?: {
    /**
     * The Id of the event that this one is a reaction to.
     */
    CausationId?: {
      [k: string]: unknown
    }
  }
  /**
   * The event's unique id, made by the publisher.
   */
  Id: string
  /**
   * Correlates related events, made by the publisher of the first one. Not all zeros, since it stands in for a missing TraceId.
   */
  CorrelationId: string
  /**
   * Distributed tracing: the 32 hex digits of the W3C trace-id, written as a GUID. Not all zeros, which W3C Trace Context forbids.
   */
  TraceId: string
  /**
   * Identifies the publishing application and never changes.
   */
  AppId: string
  /**
   * The publishing application's name, 1 to 200 characters, not blank.
   */
  AppName: string
  /**
   * Incremented when the payload's format changes. Starts at 1.
   */
  Version: number
  /**
   * What happened: a noun and a verb in the past tense, 1 to 200 characters, not blank.
   */
  Name: string
  /**
   * When the event was made: ISO 8601 date-time with T and an offset, years 0001 to 9999.
   */
  CreationDate: string
  /**
   * The event's data, by Name and Version: see the schemas in events/.
   */
  Payload: {
    [k: string]: unknown
  }
  /**
   * The organisation whose data the event is about; empty if it is about none.
   */
  TenantID?: string
  /**
   * Who of the tenant caused it, a person; may be empty. Personal data (x-pii).
   */
  TenantUserID?: string
}

/**
 * What a receiver accepts: the reduced variant's six fields. The other fields are optional, but have their type when present.
 */
export interface ReceivedEnvelope {
  /**
   * Extra metadata, and no personal data. A reaction to another event carries that event's Id in CausationId.
   */
  Headers?: {
    /**
     * The Id of the event that this one is a reaction to.
     */
    CausationId?: {
      [k: string]: unknown
    }
  }
  /**
   * The event's unique id, made by the publisher.
   */
  Id?: string
  /**
   * Correlates related events, made by the publisher of the first one. Not all zeros, since it stands in for a missing TraceId.
   */
  CorrelationId?: string
  /**
   * Distributed tracing: the 32 hex digits of the W3C trace-id, written as a GUID. Not all zeros, which W3C Trace Context forbids.
   */
  TraceId?: string
  /**
   * Identifies the publishing application and never changes.
   */
  AppId: string
  /**
   * The publishing application's name, 1 to 200 characters, not blank.
   */
  AppName: string
  /**
   * Incremented when the payload's format changes. Starts at 1.
   */
  Version: number
  /**
   * What happened: a noun and a verb in the past tense, 1 to 200 characters, not blank.
   */
  Name: string
  /**
   * When the event was made: ISO 8601 date-time with T and an offset, years 0001 to 9999.
   */
  CreationDate: string
  /**
   * The event's data, by Name and Version: see the schemas in events/.
   */
  Payload: {
    [k: string]: unknown
  }
  /**
   * The organisation whose data the event is about; empty if it is about none.
   */
  TenantID?: string
  /**
   * Who of the tenant caused it, a person; may be empty. Personal data (x-pii).
   */
  TenantUserID?: string
}
