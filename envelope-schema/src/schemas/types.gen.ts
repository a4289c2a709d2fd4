// Generated from schemas/ by make generate. Do not edit.

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
   * What happened, for example OrderCreated, 1 to 200 characters, not blank.
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
   * Whose data the event is of: a customer of the platform, or nobody in particular when empty.
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
   * What happened, for example OrderCreated, 1 to 200 characters, not blank.
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
   * Whose data the event is of: a customer of the platform, or nobody in particular when empty.
   */
  TenantID?: string
  /**
   * Who of the tenant caused it, a person; may be empty. Personal data (x-pii).
   */
  TenantUserID?: string
}

/**
 * The customer or an operator cancelled an order.
 */
export type OrderCancelledV1 = {
  /**
   * The order that the event is about.
   */
  OrderId: string
}

/**
 * A customer placed an order.
 */
export type OrderCreatedV1 = {
  /**
   * The new order.
   */
  OrderId: string
  /**
   * The customer's name, 1 to 200 characters, not blank. Personal data (x-pii).
   */
  CustomerName: string
  /**
   * The customer's tax id, free text of 1 to 64 characters, not blank. Personal data (x-pii).
   */
  CustomerTaxId: string
  /**
   * What the order costs.
   */
  Total: number
}

/**
 * The payment of an order was approved.
 */
export type PaymentApprovedV1 = {
  /**
   * The payment.
   */
  PaymentId: string
  /**
   * The order that the event is about.
   */
  OrderId: string
  /**
   * What was charged.
   */
  Amount: number
  /**
   * The policy that decided, with its version, for example amount-limit@1.
   */
  Policy: string
  /**
   * What made the payment: the order's event, or an operator by hand.
   */
  Source: 'OrderCreated' | 'Manual'
}

/**
 * An approved payment was given back.
 */
export type PaymentRefundedV1 = {
  /**
   * The payment.
   */
  PaymentId: string
  /**
   * The order that the event is about.
   */
  OrderId: string
  /**
   * What was given back.
   */
  Amount: number
  /**
   * Why it was given back. At most 1000 characters, and no personal data.
   */
  Reason: string
}

/**
 * The payment of an order was rejected.
 */
export type PaymentRejectedV1 = {
  /**
   * The payment.
   */
  PaymentId: string
  /**
   * The order that the event is about.
   */
  OrderId: string
  /**
   * What would have been charged.
   */
  Amount: number
  /**
   * The policy that decided, with its version, for example amount-limit@1.
   */
  Policy: string
  /**
   * What made the payment: the order's event, or an operator by hand.
   */
  Source: 'OrderCreated' | 'Manual'
  /**
   * Why the policy said no. At most 1000 characters, and no personal data.
   */
  Reason: string
}

/**
 * The payload of each event that has a schema, by event type.
 */
export interface EventPayloads {
  'OrderCancelled@1': OrderCancelledV1
  'OrderCreated@1': OrderCreatedV1
  'PaymentApproved@1': PaymentApprovedV1
  'PaymentRefunded@1': PaymentRefundedV1
  'PaymentRejected@1': PaymentRejectedV1
}

/**
 * The newest version of each event.
 */
export interface NewestTypes {
  OrderCancelled: 'OrderCancelled@1'
  OrderCreated: 'OrderCreated@1'
  PaymentApproved: 'PaymentApproved@1'
  PaymentRefunded: 'PaymentRefunded@1'
  PaymentRejected: 'PaymentRejected@1'
}
