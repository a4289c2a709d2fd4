import type { CamelCase, PayloadOf, Tenant } from '@orderflow/envelope-schema'
import { cancelledBeforePayment, type Policy, type Verdict } from './policy.ts'

/** What made a fact: the causing event's (or manual request's) Id, the conversation it belongs to, and when. */
export interface Cause {
  causationId: string
  correlationId: string
  traceId: string
  /** ISO 8601, UTC. */
  at: string
}

/** The fields of an announcement: those of PaymentApproved, without the payment's id. */
type Announced = CamelCase<Omit<PayloadOf<'PaymentApproved'>, 'PaymentId'>>

export const paymentStatuses = ['Approved', 'Rejected', 'Refunded'] as const

export interface Charge extends Cause, Pick<Announced, 'orderId' | 'amount' | 'source'> {
  /** Whose payment it is; left out for nobody in particular. */
  tenant?: Tenant
}

export interface Decision extends Charge, Verdict {}

/** All that is known of the payment of one order. Empty: nothing yet. */
export interface PaymentState {
  readonly decision?: Decision
  /** The order's cancellation was seen. Nothing more is kept of it, so that it is the same whoever tells of it. */
  readonly cancelled?: true
  /** What was charged was given back. */
  readonly refund?: Cause
}

/** What a charge says of whose it is. */
export function ownerOf(tenant: Tenant): Pick<Charge, 'tenant'> {
  return tenant.id || tenant.userId ? { tenant } : {}
}

export type PaymentCommand = { type: 'charge'; charge: Charge } | { type: 'cancel'; cause: Cause }
export type PaymentFact =
  | { type: 'decided'; decision: Decision }
  | { type: 'refunded'; refund: Cause }
  | { type: 'cancelled' }

/**
 * What a command comes to, or undefined when it changes nothing. A payment is decided once and refunded once; a
 * cancellation seen before the order prevents the charge.
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
 * Adds a fact. Commutes and is idempotent for every pair of facts, since a rebuild from the log tells them in any order,
 * perhaps to a service that has decided anew meanwhile. Of two decisions an approval counts, as it does for the order;
 * else the earlier one.
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

/** A total order: by time, then by cause, then by what they say. */
function isEarlier(a: Cause, b: Cause): boolean {
  if (a.at !== b.at) return a.at < b.at
  return a.causationId === b.causationId ? JSON.stringify(a) < JSON.stringify(b) : a.causationId < b.causationId
}

/** A payment as the API shows it. */
export interface Payment extends Announced {
  id: string
  status: (typeof paymentStatuses)[number]
  reason?: string
  createdAt: string
  refundedAt?: string
  correlationId: string
  traceId: string
}

/** The payment that a state shows, or undefined as long as nothing was decided. */
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
 * The rules of payments that a request or event can break:
 * - `not-found`: there is no such payment;
 * - `payment-exists`: the order has its payment already;
 * - `idempotency-key-reused`: the key stands for a payment of another order or amount;
 * - `conflicting-order`: the order was charged with another total;
 * - `invalid-amount`: an amount has more decimals than the currency;
 * - `foreign-payment`: an event of a payment that this service did not announce.
 */
export type PaymentErrorCode =
  | 'not-found'
  | 'payment-exists'
  | 'idempotency-key-reused'
  | 'conflicting-order'
  | 'invalid-amount'
  | 'foreign-payment'

/** A request or event that breaks a rule of payments. `details` may name the payment in question. */
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
