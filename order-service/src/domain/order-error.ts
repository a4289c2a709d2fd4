/**
 * - `not-found`: nothing is known of the order (yet);
 * - `not-cancellable`: its payment was rejected, so there is nothing left to cancel;
 * - `conflicting-order`: the OrderId is known with another customer or total;
 * - `invalid-amount`: an amount has more decimals than the currency;
 * - `idempotency-key-reused`: the key stands for an order with another customer or total.
 */
export type OrderErrorCode =
  | 'not-found'
  | 'not-cancellable'
  | 'conflicting-order'
  | 'invalid-amount'
  | 'idempotency-key-reused'

/** A request or event that breaks a rule of orders. `details` may name the order in question. */
export class OrderError extends Error {
  readonly code: OrderErrorCode
  readonly details: { orderId?: string }
  constructor(code: OrderErrorCode, message: string, details: { orderId?: string } = {}) {
    super(message)
    this.name = 'OrderError'
    this.code = code
    this.details = details
  }
}
