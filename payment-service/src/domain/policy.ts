/** What a policy makes of an amount. `policy` is the name and version that decided, kept on the payment. */
export interface Verdict {
  approved: boolean
  policy: string
  reason?: string
}

export type Policy = (amount: number) => Verdict

/**
 * Approves amounts up to a limit (settings `Policy.ApproveUpTo`, same currency as the order's total). The limit is
 * an example: put your own rule here. A change of the rule is a new version of the name.
 */
export function amountLimit(approveUpTo: number): Policy {
  const policy = 'amount-limit@1'
  return (amount) =>
    amount <= approveUpTo
      ? { approved: true, policy }
      : { approved: false, policy, reason: `the amount is above the limit of ${approveUpTo}` }
}

/** Decides in place of the policy when the order's cancellation was seen before the order. */
export const cancelledBeforePayment: Verdict = {
  approved: false,
  policy: 'cancelled-before-payment@1',
  reason: 'the order was cancelled before it was charged',
}
