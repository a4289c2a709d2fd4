/**
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
