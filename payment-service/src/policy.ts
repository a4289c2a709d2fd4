/** The decision on an amount, with the policy's name and version. */
export interface Verdict {
  /** `pending`: a payment provider decides. */
  approved: boolean | 'pending'
  policy: string
  reason?: string
}

export type Policy = (amount: number) => Verdict

/**
 * Returns a policy that approves amounts up to a limit (setting `Policy.ApproveUpTo`). It is an example: replace it by your own rule. If you
 * change a rule, increase the version in its name.
 */
export function amountLimit(approveUpTo: number): Policy {
  const policy = 'amount-limit@1'
  return (amount) =>
    amount <= approveUpTo
      ? { approved: true, policy }
      : { approved: false, policy, reason: `the amount is above the limit of ${approveUpTo}` }
}

/** Leaves each decision to a payment provider. */
export const byProvider: Policy = () => ({ approved: 'pending', policy: 'provider@1' })

/** The decision if the order expired before its payment was decided. */
export const expired: Verdict = {
  approved: false,
  policy: 'expired@1',
  reason: 'the order was not paid in time',
}

/** The decision if the order's cancellation arrives before the order. */
export const cancelledBeforePayment: Verdict = {
  approved: false,
  policy: 'cancelled-before-payment@1',
  reason: 'the order was cancelled before it was charged',
}
