import {
  checkPayload,
  completeEnvelope,
  type Envelope,
  type FullEvent,
  type Origin,
  parseEnvelope,
} from '@orderflow/envelope-schema'
import { decide, type PaymentState, paymentIdOf, resultOf } from './decision.ts'

export type { PaymentState } from './decision.ts'

/**
 * Validates an OrderCreated with the contract. Returns undefined for any other event.
 * @throws {EnvelopeError}
 */
export function readOrderCreated(value: Uint8Array, origin: Origin): FullEvent<'OrderCreated@1'> | undefined {
  const envelope = parseEnvelope(value)
  if (envelope.Name !== 'OrderCreated') return undefined
  return completeEnvelope(checkPayload(envelope), origin) as FullEvent<'OrderCreated@1'>
}

export const paymentKey = (event: FullEvent<'OrderCreated@1'>) => `payment/${paymentIdOf(event)}`

/** Decides a payment once. If the payment is already decided, returns the same state and announcement again. */
export function pay(
  event: FullEvent<'OrderCreated@1'>,
  known: PaymentState | undefined,
): { state: PaymentState; announcement: Envelope } {
  const state = known ?? decide(event)
  return { state, announcement: resultOf(paymentIdOf(event), state) }
}
