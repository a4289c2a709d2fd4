import { createEnvelope, deterministicId, type Envelope, paymentEvents } from '@orderflow/envelope-schema'
import { type Publish, recordOf } from '@orderflow/service-kit'
import type { Cause, PaymentState } from './domain/payment.ts'
import { paymentIdOf } from './store.ts'

interface Publisher {
  id: string
  name: string
}

/**
 * The event that tells how a charge was decided. It is made of what is stored and nothing else, so every redelivery
 * announces the very same event.
 */
export function resultOf(app: Publisher, { decision }: PaymentState): Envelope | undefined {
  if (!decision) return undefined
  const { orderId, amount, policy, source, reason = '' } = decision
  const payload = { PaymentId: paymentIdOf(orderId), OrderId: orderId, Amount: amount, Policy: policy, Source: source }
  return decision.approved
    ? createEnvelope({ ...commonFields(app, orderId, 'PaymentApproved', decision), payload })
    : createEnvelope({
        ...commonFields(app, orderId, 'PaymentRejected', decision),
        payload: { ...payload, Reason: reason },
      })
}

/** The event that tells of a refund, when there was something to refund. */
export function refundOf(app: Publisher, { decision, cancellation }: PaymentState): Envelope | undefined {
  if (!decision?.approved || !cancellation) return undefined
  const { orderId, amount } = decision
  return createEnvelope({
    ...commonFields(app, orderId, 'PaymentRefunded', cancellation),
    payload: {
      PaymentId: paymentIdOf(orderId),
      OrderId: orderId,
      Amount: amount,
      Reason: 'the order was cancelled',
    },
  })
}

function commonFields<N extends string>(app: Publisher, orderId: string, name: N, cause: Cause) {
  return {
    app,
    name,
    version: 1 as const,
    id: deterministicId('event', paymentIdOf(orderId), name),
    correlationId: cause.correlationId,
    traceId: cause.traceId,
    creationDate: new Date(cause.at),
    headers: { CausationId: cause.causationId },
  }
}

/** Publishes an announcement under its order's key; nothing when there is nothing to announce. */
export async function announce(publish: Publish, event: Envelope | undefined, orderId: string): Promise<void> {
  if (event) await publish(recordOf(paymentEvents, orderId, event))
}
