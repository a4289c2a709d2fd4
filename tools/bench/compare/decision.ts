import { createEnvelope, deterministicId, type Envelope, type FullEvent } from '@orderflow/envelope-schema'
import { amountLimit, type Verdict } from '@orderflow/payment-service/policy'

const app = { id: '5d1c5a0e-0a53-4b7e-a4d5-6c55f1c8e002', name: 'compared' }
const policy = amountLimit(10_000)

type OrderCreated = FullEvent<'OrderCreated@1'>

export const paymentIdOf = ({ Payload }: OrderCreated): string => deterministicId('payment', Payload.OrderId)

/** The stored document of a payment: a flat record. There is no list of payments. */
export interface PaymentState extends Verdict {
  causationId: string
  correlationId: string
  traceId: string
  /** ISO 8601, UTC. */
  at: string
  orderId: string
  amount: number
}

export function decide({ Id, CorrelationId, TraceId, Payload }: OrderCreated): PaymentState {
  const { OrderId: orderId, Total: amount } = Payload
  const cause = { causationId: Id, correlationId: CorrelationId, traceId: TraceId, at: new Date().toISOString() }
  return { ...cause, orderId, amount, ...policy(amount) }
}

/** Returns the event that announces a payment. It depends only on the stored state, so a repeated delivery announces the same event. */
export function resultOf(paymentId: string, state: PaymentState): Envelope {
  const { orderId: OrderId, amount: Amount, policy: Policy, reason: Reason = '' } = state
  const payload = { PaymentId: paymentId, OrderId, Amount, Policy, Source: 'OrderCreated' as const }
  const common = (type: string) => ({
    app,
    id: deterministicId('event', paymentId, type),
    correlationId: state.correlationId,
    traceId: state.traceId,
    creationDate: new Date(state.at),
    headers: { CausationId: state.causationId },
  })
  return state.approved
    ? createEnvelope({ ...common('PaymentApproved'), type: 'PaymentApproved', payload })
    : createEnvelope({ ...common('PaymentRejected'), type: 'PaymentRejected', payload: { ...payload, Reason } })
}
