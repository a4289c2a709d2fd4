import type {
  FullEnvelope,
  OrderCancelledV1,
  OrderCreatedV1,
  PaymentApprovedV1,
  PaymentRefundedV1,
  PaymentRejectedV1,
  ReceivedEnvelope,
} from './types.gen.ts'

export type { ReceivedEnvelope } from './types.gen.ts'

/** The full variant: what a publisher sends, and what `completeEnvelope` makes of a reduced one. */
export type Envelope = FullEnvelope

/** An object type instead of an interface, so that a payload can be used where any JSON object is expected. */
type JsonObject<T> = { [K in keyof T]: T[K] }

/** The payload of each known event, by the event's Name. */
export type EventPayloads = {
  OrderCreated: JsonObject<OrderCreatedV1>
  OrderCancelled: JsonObject<OrderCancelledV1>
  PaymentApproved: JsonObject<PaymentApprovedV1>
  PaymentRejected: JsonObject<PaymentRejectedV1>
  PaymentRefunded: JsonObject<PaymentRefundedV1>
}

export type EventName = keyof EventPayloads

/** A received envelope whose Name and Version are known and whose Payload was validated against their schema. */
export type EventOf<N extends EventName> = {
  [K in N]: Omit<ReceivedEnvelope, 'Name' | 'Version' | 'Payload'> & { Name: K; Version: 1; Payload: EventPayloads[K] }
}[N]

/** Any known event. Narrow it by `Name`. */
export type KnownEvent = EventOf<EventName>
