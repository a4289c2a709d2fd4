import {
  checkPayload,
  completeEnvelope,
  deterministicId,
  type Envelope,
  type FullEvent,
  type Origin,
  parseEnvelope,
} from '@orderflow/envelope-schema'
import { resultOf } from '@orderflow/payment-service/announcements'
import { decide, evolve, type PaymentState } from '@orderflow/payment-service/domain'
import { amountLimit } from '@orderflow/payment-service/policy'

const app = { id: '5d1c5a0e-0a53-4b7e-a4d5-6c55f1c8e002', name: 'compared' }
const policy = amountLimit(10_000)

/**
 * Validates an OrderCreated with the contract. Returns undefined for any other event.
 * @throws {EnvelopeError}
 */
export function readOrderCreated(value: Uint8Array, origin: Origin): FullEvent<'OrderCreated@1'> | undefined {
  const envelope = parseEnvelope(value)
  if (envelope.Name !== 'OrderCreated') return undefined
  return completeEnvelope(checkPayload(envelope), origin) as FullEvent<'OrderCreated@1'>
}

export const paymentKey = ({ Payload }: FullEvent<'OrderCreated@1'>) =>
  `payment/${deterministicId('payment', Payload.OrderId)}`

/** Decides a payment once. If the payment is already decided, returns the same state and announcement again. */
export function pay(
  { Id, CorrelationId, TraceId, Payload }: FullEvent<'OrderCreated@1'>,
  known: PaymentState | undefined,
): { state: PaymentState; announcement: Envelope } {
  const cause = { causationId: Id, correlationId: CorrelationId, traceId: TraceId, at: new Date().toISOString() }
  const charge = { ...cause, orderId: Payload.OrderId, amount: Payload.Total, source: 'OrderCreated' as const }
  const fact = decide(known ?? {}, { type: 'charge', charge }, policy)
  const state = fact ? evolve(known ?? {}, fact) : (known as PaymentState)
  return { state, announcement: resultOf(app, state) as Envelope }
}
