import { type CallOutcome, type Currency, type Facts, Refused } from '@orderflow/service-kit'

/** The events of a payment. */
export const ownNames = [
  'PaymentPending',
  'PaymentAuthorised',
  'PaymentApproved',
  'PaymentRejected',
  'PaymentRefunded',
] as const
export type PaymentFacts = Facts<(typeof ownNames)[number] | 'OrderCancelled' | 'OrderExpired'>

/**
 * Returns the calls to the payment provider that a payment needs. They end by a decision, and never by a time. An order that expires or is cancelled only
 * asks the provider to cancel. The answer may be that the payment was captured.
 */
export function callsOf(known: PaymentFacts, { code }: Currency) {
  const { PaymentPending: pending, PaymentAuthorised: authorised, PaymentApproved: paid } = known
  if (!pending) return {}
  const { PaymentId: paymentId, OrderId: orderId, Amount: amount } = pending.Payload
  const to = (operation: string) => ({
    target: 'provider',
    operation,
    input: { paymentId, orderId, amount, currency: code },
  })
  if (paid) return { Refund: known.OrderCancelled && !known.PaymentRefunded ? to('refund') : undefined }
  if (known.PaymentRejected) return {}
  if (known.OrderCancelled ?? known.OrderExpired) return { Cancel: to('cancel') }
  return authorised ? { Capture: to('capture') } : { Authorise: to('authorise') }
}

/** The provider has reserved the amount, or declined. */
export function Authorise(outcome: CallOutcome, known: PaymentFacts) {
  if (outcome.outcome === 'refused') return rejected(known, outcome.reason)
  const { PaymentId, OrderId } = pendingIn(known)
  return known.PaymentAuthorised ? undefined : { PaymentAuthorised: { PaymentId, OrderId } }
}

/** The provider has charged the amount, or can no longer do it. */
export const Capture = (outcome: CallOutcome, known: PaymentFacts) =>
  outcome.outcome === 'refused' ? rejected(known, outcome.reason) : approved(known)

/** The provider will not charge the amount, or has charged it before: then the order is paid. */
export function Cancel(outcome: CallOutcome, known: PaymentFacts) {
  const why = known.OrderCancelled ? 'the order was cancelled before it was charged' : 'the order was not paid in time'
  if (outcome.outcome === 'done') return rejected(known, why)
  if (outcome.code === 'already-captured') return approved(known)
  throw unexpected('cancel', outcome)
}

/** The provider has paid the amount back. */
export function Refund(outcome: CallOutcome, known: PaymentFacts) {
  if (outcome.outcome === 'refused' && outcome.code !== 'already-refunded') throw unexpected('refund', outcome)
  return known.PaymentRefunded ? undefined : refundOf(pendingIn(known))
}

export const refundOf = ({ PaymentId, OrderId, Amount }: { PaymentId: string; OrderId: string; Amount: number }) => ({
  PaymentRefunded: { PaymentId, OrderId, Amount, Reason: 'the order was cancelled' },
})

/** Returns the payload with which the provider was asked. */
function pendingIn({ PaymentPending }: PaymentFacts) {
  if (PaymentPending) return PaymentPending.Payload
  throw new Refused('not-found', 'the provider was not asked for this payment')
}

const approved = (known: PaymentFacts) =>
  known.PaymentApproved ? undefined : { PaymentApproved: { ...pendingIn(known) } }

const rejected = (known: PaymentFacts, reason: string) =>
  known.PaymentApproved || known.PaymentRejected
    ? undefined
    : { PaymentRejected: { ...pendingIn(known), Reason: reason.slice(0, 1_000) } }

/** Returns the refusal that leaves the decision to a person. */
const unexpected = (operation: string, { code, reason }: Extract<CallOutcome, { outcome: 'refused' }>) =>
  new Refused('provider-refused', `the provider refuses to ${operation} the payment (${code}): ${reason}`)
