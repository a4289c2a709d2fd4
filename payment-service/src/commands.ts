import { isInfrastructure, Problem, type Publish, traceIdFrom, unavailable } from '@orderflow/service-kit'
import { announce, resultOf } from './announcements.ts'
import { type Payment, paymentOf } from './domain/payment.ts'
import { type PaymentStore, paymentIdOf } from './store.ts'

export interface CommandDependencies {
  app: { id: string; name: string }
  store: PaymentStore
  publish: Publish
  now: () => Date
  newId: () => string
}

export interface MakePayment {
  orderId: string
  amount: number
}

export interface Commands {
  /**
   * Makes a payment by hand. Decided by the same policy as any other, stored, then announced.
   * @throws {Problem} 409 when the order has a payment, 503 when it is stored and not announced
   */
  make(input: MakePayment, context: { traceparent: string | undefined }): Promise<Payment>
}

export function createCommands({ app, store, publish, now, newId }: CommandDependencies): Commands {
  return {
    async make({ orderId, amount }, { traceparent }) {
      const paymentId = paymentIdOf(orderId)
      const traceId = traceIdFrom(traceparent) ?? newId()
      const cause = { causationId: newId(), correlationId: traceId, traceId, at: now().toISOString() }
      const state = await store.settle(orderId, {
        type: 'charge',
        charge: { ...cause, orderId, amount, source: 'Manual' },
      })
      // Announcing what another request decided is harmless, and heals one that died before it could.
      await announce(publish, resultOf(app, state), orderId).catch((error: unknown) => {
        if (!isInfrastructure(error)) throw error
        const detail = 'The payment is stored but may not be announced. Send the request again: 409 then says it is.'
        throw unavailable(detail, { paymentId }, error)
      })
      if (state.decision?.causationId === cause.causationId) return paymentOf(paymentId, state) as Payment
      throw new Problem(409, 'payment-exists', 'The order has its payment already', {
        detail: `There is one payment per order; this one is at /v1/payments/${paymentId}.`,
        extra: { paymentId },
      })
    },
  }
}
