// Generated from envelope-schema/schemas/ by make generate. Do not edit.

/**
 * The envelope that a receiver accepts. The six fields of the reduced variant are required. The other fields are optional, and must be valid if present.
 */
export interface ReceivedEnvelope {
  /**
   * Extra metadata without personal data. A reaction to another event has that event's Id in CausationId.
   */
  Headers?: {
    /**
     * The Id of the event that caused this event.
     */
    CausationId?: {
      [k: string]: unknown
    }
  }
  /**
   * The event's unique id, created by its publisher.
   */
  Id?: string
  /**
   * The same id in all related events. The publisher of the first event creates it. Not all zeros, because it replaces a missing TraceId.
   */
  CorrelationId?: string
  /**
   * The 32 hex digits of the W3C trace-id, written as a GUID. Not all zeros, which W3C Trace Context forbids.
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
   * The event's name: a noun and a verb in the past tense, 1 to 200 characters, not blank.
   */
  Name: string
  /**
   * The time of the event: ISO 8601 date-time with T and an offset, years 0001 to 9999.
   */
  CreationDate: string
  /**
   * The event's data. Its schema in events/ depends on Name and Version.
   */
  Payload: {
    [k: string]: unknown
  }
  /**
   * The organisation that owns the event's data; empty if there is none.
   */
  TenantID?: string
  /**
   * The person who caused the event, as a user of the tenant; may be empty. Personal data (x-pii).
   */
  TenantUserID?: string
}

/**
 * The envelope that services publish. It has all ids, so the event can be traced.
 */
export type FullEnvelope = ReceivedEnvelope & Required<Pick<ReceivedEnvelope, 'Id' | 'CorrelationId' | 'TraceId'>>
