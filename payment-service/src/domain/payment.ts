import { cancelledBeforePayment, type Policy, type Verdict } from './policy.ts'

/** What made a fact: the causing event's (or manual request's) Id, the conversation it belongs to, and when. */
export interface Cause {
  causationId: string
  correlationId: string
  traceId: string
  /** ISO 8601, UTC. */
  at: string
}

export type PaymentSource = 'OrderCreated' | 'Manual'

export interface Charge extends Cause {
  orderId: string
  amount: number
  source: PaymentSource
}

export interface Decision extends Charge, Verdict {}

/** All that is known of the payment of one order. Empty: nothing yet. */
export interface PaymentState {
  readonly decision?: Decision
  readonly cancellation?: Cause
}

export type PaymentCommand = { type: 'charge'; charge: Charge } | { type: 'cancel'; cause: Cause }
export type PaymentFact = { type: 'decided'; decision: Decision } | { type: 'cancelled'; cancellation: Cause }

/**
 * What a command comes to, or undefined when it changes nothing. A payment is decided once and cancelled once; a
 * cancellation seen before the order prevents the charge.
 */
export function decide(state: PaymentState, command: PaymentCommand, policy: Policy): PaymentFact | undefined {
  if (command.type === 'cancel') {
    return state.cancellation ? undefined : { type: 'cancelled', cancellation: command.cause }
  }
  if (state.decision) return undefined
  const verdict = state.cancellation ? cancelledBeforePayment : policy(command.charge.amount)
  return { type: 'decided', decision: { ...command.charge, ...verdict } }
}

export function evolve(state: PaymentState, fact: PaymentFact): PaymentState {
  return fact.type === 'decided' ? { ...state, decision: fact.decision } : { ...state, cancellation: fact.cancellation }
}

/** A payment as the API shows it. */
export interface Payment {
  id: string
  orderId: string
  amount: number
  status: 'Approved' | 'Rejected' | 'Refunded'
  policy: string
  reason?: string
  source: PaymentSource
  createdAt: string
  refundedAt?: string
  correlationId: string
  traceId: string
}

/** The payment that a state shows, or undefined as long as nothing was decided. */
export function paymentOf(id: string, { decision, cancellation }: PaymentState): Payment | undefined {
  if (!decision) return undefined
  const refund = decision.approved ? cancellation : undefined
  return {
    id,
    orderId: decision.orderId,
    amount: decision.amount,
    status: refund ? 'Refunded' : decision.approved ? 'Approved' : 'Rejected',
    policy: decision.policy,
    ...(decision.reason && { reason: decision.reason }),
    source: decision.source,
    createdAt: decision.at,
    ...(refund && { refundedAt: refund.at }),
    correlationId: decision.correlationId,
    traceId: decision.traceId,
  }
}
