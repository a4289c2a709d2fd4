import { type CamelCase, deterministicId, type PayloadOf } from '@orderflow/envelope-schema'
import { amountFlaw, type Currency, type Entity, entity, facts, Refused } from '@orderflow/service-kit'
import { cancelledBeforePayment, expired, type Policy, type Verdict } from './policy.ts'
import { Authorise, Cancel, Capture, callsOf, ownNames, type PaymentFacts, Refund, refundOf } from './provider.ts'

export const paymentStatuses = ['Pending', 'Approved', 'Rejected', 'Refunded'] as const

export interface Payment extends CamelCase<Omit<PayloadOf<'PaymentApproved@1'>, 'PaymentId'>> {
  id: string
  /** ISO 4217. */
  currency: string
  status: (typeof paymentStatuses)[number]
  reason?: string
  createdAt: string
  refundedAt?: string
  correlationId: string
  traceId: string
}

export interface MakePayment {
  orderId: string
  amount: number
}

export type Payments = Entity<PaymentFacts, Payment, { make: MakePayment }>

/** An order has one payment, so the payment’s id derives from the OrderId. */
export const paymentIdOf = (orderId: string): string => deterministicId('payment', orderId)

/** An approval replaces a rejection, as in order-service. */
const decisionIn = (payment: PaymentFacts) => payment.PaymentApproved ?? payment.PaymentRejected
const firstIn = (payment: PaymentFacts) => payment.PaymentPending ?? decisionIn(payment)

/**
 * A payment is decided and refunded at most once. If the cancellation arrives before the order, the payment is rejected. A policy decides at once, or leaves the
 * decision to a provider.
 */
export function payment(policy: Policy, currency: Currency) {
  const verdictOn = (amount: number, { OrderCancelled, PaymentRefunded }: PaymentFacts) =>
    OrderCancelled || PaymentRefunded ? cancelledBeforePayment : policy(amount)
  return entity({
    name: 'payment',
    id: ({ OrderId }) => paymentIdOf(OrderId),
    events: ownNames,
    ...facts([...ownNames, 'OrderCancelled', 'OrderExpired']),
    on: {
      OrderCreated({ Payload: { OrderId, Total } }, known, { id }) {
        const flaw = amountFlaw(Total, currency)
        if (flaw) throw new Refused('invalid-amount', `Total ${flaw}`, { paymentId: id })
        const decision = firstIn(known)?.Payload
        if (!decision) return decisionOf(verdictOn(Total, known), id, OrderId, Total, 'OrderCreated')
        if (decision.Source === 'OrderCreated' && decision.Amount !== Total)
          throw new Refused('conflicting-order', 'this OrderId was charged with another total')
        return undefined
      },
      // A decision is announced again, so that order-service always gets an answer.
      OrderExpired({ Payload: { OrderId, Total } }, { PaymentApproved, PaymentRejected, PaymentPending }, { id }) {
        if (PaymentApproved) return { PaymentApproved: PaymentApproved.Payload }
        if (PaymentRejected) return { PaymentRejected: PaymentRejected.Payload }
        if (PaymentPending) return undefined
        return decisionOf(expired, id, OrderId, Total, 'OrderCreated')
      },
      OrderCancelled(_event, { PaymentApproved: paid, PaymentRefunded: refund, PaymentPending }) {
        return paid && !refund && !PaymentPending ? refundOf(paid.Payload) : undefined
      },
    },
    calls: (known) => callsOf(known, currency),
    onCall: { Authorise, Capture, Cancel, Refund },
    commands: {
      make({ orderId, amount }: MakePayment, known, { id }) {
        if (!firstIn(known)) return decisionOf(verdictOn(amount, known), id, orderId, amount, 'Manual')
        const exists = `The order already has a payment: see /v1/payments/${id}.`
        throw new Refused('payment-exists', exists, { paymentId: id })
      },
    },
    answersRequest: ({ Payload }) => 'Source' in Payload && Payload.Source === 'Manual',
    view: (known, id) => paymentOf(known, id, currency),
  })
}

const statuses = { PaymentPending: 'Pending', PaymentApproved: 'Approved', PaymentRejected: 'Rejected' } as const

function decisionOf(
  { approved, policy: Policy, reason: Reason = '' }: Verdict,
  ...[PaymentId, OrderId, Amount, Source]: [string, string, number, 'OrderCreated' | 'Manual']
) {
  const payload = { PaymentId, OrderId, Amount, Policy, Source }
  if (approved === 'pending') return { PaymentPending: payload }
  return approved ? { PaymentApproved: payload } : { PaymentRejected: { ...payload, Reason } }
}

function paymentOf(known: PaymentFacts, id: string, { code }: Currency): Payment | undefined {
  const decision = decisionIn(known) ?? known.PaymentPending
  if (!decision) return undefined
  const { OrderId: orderId, Amount: amount, Policy: policy, Source: source } = decision.Payload
  const refund = known.PaymentApproved && known.PaymentRefunded
  return {
    id,
    orderId,
    amount,
    currency: code,
    status: refund ? 'Refunded' : statuses[decision.Name],
    policy,
    ...(decision.Name === 'PaymentRejected' && { reason: decision.Payload.Reason }),
    source,
    createdAt: decision.CreationDate,
    ...(refund && { refundedAt: refund.CreationDate }),
    correlationId: decision.CorrelationId,
    traceId: decision.TraceId,
  }
}
