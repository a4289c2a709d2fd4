// Generated from envelope-schema/schemas/ by make generate. Do not edit.

/**
 * Another system has answered a call of an entity, or its answer stays unknown. The service that has the entity publishes this event, and then decides what follows.
 */
export type CallAnsweredV1 = {
  /**
   * The name of the entity's kind, such as payment.
   */
  Entity: string
  /**
   * The id of the entity.
   */
  EntityId: string
  /**
   * The name of the call.
   */
  Call: string
  /**
   * The attempt, as the state of the entity names it. All tries of an attempt have the same idempotency key.
   */
  Attempt: string
  /**
   * done: the other system did it. refused: it will not do it. unknown: a person must find out. The person writes done or refused, or again for another try, and replays the dead letter.
   */
  Outcome: 'done' | 'refused' | 'unknown' | 'again'
  /**
   * The other system's code of a refusal.
   */
  Code?: string
  /**
   * The reason for a refusal, or what was tried.
   */
  Reason?: string
  /**
   * The answer of the other system. Personal data (x-pii).
   */
  Answer?: {
    [k: string]: unknown
  }
}

/**
 * A deadline of an entity has passed. The service that has the entity publishes this event, and then decides what follows.
 */
export type DeadlinePassedV1 = {
  /**
   * The name of the entity's kind, such as order.
   */
  Entity: string
  /**
   * The id of the entity.
   */
  EntityId: string
  /**
   * The name of the deadline.
   */
  Deadline: string
  /**
   * The time of the deadline, by the clock of the log.
   */
  Due: string
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
   * The price of the order.
   */
  Total: number
}

/**
 * An order was not paid in time. Its service asks payment-service to close the payment.
 */
export type OrderExpiredV1 = {
  /**
   * The order that the event is about.
   */
  OrderId: string
  /**
   * The price of the order.
   */
  Total: number
}

/**
 * The customer of an order was reminded of its payment.
 */
export type OrderRemindedV1 = {
  /**
   * The order that the event is about.
   */
  OrderId: string
  /**
   * The time at which the order expires without a payment.
   */
  PayableUntil: string
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
   * The charged amount.
   */
  Amount: number
  /**
   * The policy that decided, with its version, for example amount-limit@1.
   */
  Policy: string
  /**
   * The trigger of the payment: the order's event, or an operator.
   */
  Source: 'OrderCreated' | 'Manual'
}

/**
 * The payment provider has reserved the amount of a payment. It is not charged yet.
 */
export type PaymentAuthorisedV1 = {
  /**
   * The payment.
   */
  PaymentId: string
  /**
   * The order that the event is about.
   */
  OrderId: string
}

/**
 * A payment provider was asked for the payment of an order.
 */
export type PaymentPendingV1 = {
  /**
   * The payment.
   */
  PaymentId: string
  /**
   * The order that the event is about.
   */
  OrderId: string
  /**
   * The amount to charge.
   */
  Amount: number
  /**
   * The policy that decided to ask the provider, with its version, for example provider@1.
   */
  Policy: string
  /**
   * The trigger of the payment: the order's event, or an operator.
   */
  Source: 'OrderCreated' | 'Manual'
}

/**
 * An approved payment was refunded.
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
   * The refunded amount.
   */
  Amount: number
  /**
   * The reason for the refund. At most 1000 characters, without personal data.
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
   * The amount that was not charged.
   */
  Amount: number
  /**
   * The policy that decided, with its version, for example amount-limit@1.
   */
  Policy: string
  /**
   * The trigger of the payment: the order's event, or an operator.
   */
  Source: 'OrderCreated' | 'Manual'
  /**
   * The reason for the rejection. At most 1000 characters, without personal data.
   */
  Reason: string
}

declare module '@orderflow/envelope' {
  interface EventPayloads {
    'CallAnswered@1': CallAnsweredV1
    'DeadlinePassed@1': DeadlinePassedV1
    'OrderCancelled@1': OrderCancelledV1
    'OrderCreated@1': OrderCreatedV1
    'OrderExpired@1': OrderExpiredV1
    'OrderReminded@1': OrderRemindedV1
    'PaymentApproved@1': PaymentApprovedV1
    'PaymentAuthorised@1': PaymentAuthorisedV1
    'PaymentPending@1': PaymentPendingV1
    'PaymentRefunded@1': PaymentRefundedV1
    'PaymentRejected@1': PaymentRejectedV1
  }

  interface NewestTypes {
    CallAnswered: 'CallAnswered@1'
    DeadlinePassed: 'DeadlinePassed@1'
    OrderCancelled: 'OrderCancelled@1'
    OrderCreated: 'OrderCreated@1'
    OrderExpired: 'OrderExpired@1'
    OrderReminded: 'OrderReminded@1'
    PaymentApproved: 'PaymentApproved@1'
    PaymentAuthorised: 'PaymentAuthorised@1'
    PaymentPending: 'PaymentPending@1'
    PaymentRefunded: 'PaymentRefunded@1'
    PaymentRejected: 'PaymentRejected@1'
  }
}
