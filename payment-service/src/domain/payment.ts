import type { CamelCase, PayloadOf, Tenant } from '@orderflow/envelope-schema'
import { cancelledBeforePayment, type Policy, type Verdict } from './policy.ts'

/** The cause of a fact: the Id of an event or request, its conversation, and the time. */
export interface Cause {
  causationId: string
  correlationId: string
  traceId: string
  /** ISO 8601, UTC. */
  at: string
}

type Announced = CamelCase<Omit<PayloadOf<'PaymentApproved@1'>, 'PaymentId'>>

export const paymentStatuses = ['Approved', 'Rejected', 'Refunded'] as const

export interface Charge extends Cause, Pick<Announced, 'orderId' | 'amount' | 'source'> {
  /** The payment's tenant and user; missing if both are empty. */
  tenant?: Tenant
}

export interface Decision extends Charge, Verdict {}

export interface PaymentState {
  readonly decision?: Decision
  /** The facts `cancelled` and `refunded` set this field. It contains no cause, so that both facts set the same value. */
  readonly cancelled?: true
  readonly refund?: Cause
}

export function ownerOf(tenant: Tenant): Pick<Charge, 'tenant'> {
  return tenant.id || tenant.userId ? { tenant } : {}
}

export type PaymentCommand = { type: 'charge'; charge: Charge } | { type: 'cancel'; cause: Cause }
export type PaymentFact =
  | { type: 'decided'; decision: Decision }
  | { type: 'refunded'; refund: Cause }
  | { type: 'cancelled' }

/**
 * Returns the fact that results from a command; undefined if nothing changes. A payment is decided and refunded at most once. If the
 * cancellation arrives before the order, the payment is rejected.
 */
export function decide(state: PaymentState, command: PaymentCommand, policy: Policy): PaymentFact | undefined {
  if (command.type === 'cancel') {
    if (state.decision?.approved) return state.refund ? undefined : { type: 'refunded', refund: command.cause }
    return state.cancelled ? undefined : { type: 'cancelled' }
  }
  if (state.decision) return undefined
  const verdict = state.cancelled ? cancelledBeforePayment : policy(command.charge.amount)
  return { type: 'decided', decision: { ...command.charge, ...verdict } }
}

/**
 * Adds a fact. A rebuild may read facts in any sequence, so the result depends only on the set of facts. An approval replaces a rejection,
 * as in order-service. Of two approvals or two rejections, the earlier one applies.
 */
export function evolve(state: PaymentState, fact: PaymentFact): PaymentState {
  switch (fact.type) {
    case 'cancelled':
      return state.cancelled ? state : { ...state, cancelled: true }
    case 'refunded':
      return state.refund && !isEarlier(fact.refund, state.refund)
        ? state
        : { ...state, cancelled: true, refund: fact.refund }
    case 'decided':
      return state.decision && !counts(fact.decision, state.decision) ? state : { ...state, decision: fact.decision }
  }
}

function counts(a: Decision, b: Decision): boolean {
  return a.approved === b.approved ? isEarlier(a, b) : a.approved
}

function isEarlier(a: Cause, b: Cause): boolean {
  if (a.at !== b.at) return a.at < b.at
  return a.causationId === b.causationId ? JSON.stringify(a) < JSON.stringify(b) : a.causationId < b.causationId
}

export interface Payment extends Announced {
  id: string
  status: (typeof paymentStatuses)[number]
  reason?: string
  createdAt: string
  refundedAt?: string
  correlationId: string
  traceId: string
}

export function paymentOf(id: string, { decision, refund }: PaymentState): Payment | undefined {
  if (!decision) return undefined
  return {
    id,
    orderId: decision.orderId,
    amount: decision.amount,
    status: statusOf(decision, refund),
    policy: decision.policy,
    ...(decision.reason && { reason: decision.reason }),
    source: decision.source,
    createdAt: decision.at,
    ...(decision.approved && refund && { refundedAt: refund.at }),
    correlationId: decision.correlationId,
    traceId: decision.traceId,
  }
}

function statusOf({ approved }: Decision, refund: Cause | undefined): Payment['status'] {
  if (!approved) return 'Rejected'
  return refund ? 'Refunded' : 'Approved'
}

/**
 * Rules of payments that a request or event can break:
 * - `not-found`: the payment does not exist;
 * - `payment-exists`: the order already has a payment;
 * - `idempotency-key-reused`: the key belongs to a payment of another order or amount;
 * - `conflicting-order`: the order was charged with another total;
 * - `invalid-amount`: an amount has more decimals than the currency allows;
 * - `foreign-payment`: this service did not announce the event's payment.
 */
export type PaymentErrorCode =
  | 'not-found'
  | 'payment-exists'
  | 'idempotency-key-reused'
  | 'conflicting-order'
  | 'invalid-amount'
  | 'foreign-payment'

export class PaymentError extends Error {
  readonly code: PaymentErrorCode
  readonly details: { paymentId?: string }
  constructor(code: PaymentErrorCode, message: string, details: { paymentId?: string } = {}) {
    super(message)
    this.name = 'PaymentError'
    this.code = code
    this.details = details
  }
}
