// Generated from services.json by make generate. Do not edit.

import type { TopicFacts } from './topic-facts.ts'

/** Topic of OrderCreated, OrderCancelled. */
export const orderEvents = 'orderevents'

/** Topic of PaymentApproved, PaymentRejected, PaymentRefunded. */
export const paymentEvents = 'paymentevents'

/** Partition key and events of each topic. */
export const topicFacts: Readonly<Record<string, TopicFacts>> = {
  'orderevents': { key: ['OrderId'], events: ['OrderCreated', 'OrderCancelled'] },
  'paymentevents': { key: ['OrderId'], events: ['PaymentApproved', 'PaymentRejected', 'PaymentRefunded'] },
}
