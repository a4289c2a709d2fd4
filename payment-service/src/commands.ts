import { deterministicId, type Tenant } from '@orderflow/envelope-schema'
import { isInfrastructure, type ServiceContext, UncertainError } from '@orderflow/service-kit'
import { announce, resultOf } from './announcements.ts'
import { decide, ownerOf, type Payment, paymentOf } from './domain/payment.ts'
import { PaymentError } from './domain/payment-error.ts'
import type { Policy } from './domain/policy.ts'
import { type PaymentStore, paymentIdOf } from './store.ts'

export interface MakePayment {
  orderId: string
  amount: number
}

/** What comes with a request besides its body. */
export interface RequestContext {
  tenant: Tenant
  /** 1 to 255 characters; without one a retry is told that the order has its payment. */
  idempotencyKey?: string | undefined
  /** The trace that the request belongs to, a GUID; a new one when it names none. */
  traceId?: string | undefined
}

export interface Commands {
  /**
   * Makes a payment by hand. Decided by the same policy as any other, stored, then announced. A request with the key of an
   * earlier one is answered the payment which that one made.
   * @throws {PaymentError} `payment-exists`, `idempotency-key-reused`
   * @throws {UncertainError} when it is stored and may not be announced
   */
  make(input: MakePayment, context: RequestContext): Promise<Payment>
}

type Dependencies = Pick<ServiceContext, 'app' | 'publish' | 'now' | 'newId'>

export function createCommands(
  { saveFact }: Pick<PaymentStore, 'saveFact'>,
  policy: Policy,
  { app, publish, now, newId }: Dependencies,
): Commands {
  return {
    async make({ orderId, amount }, { idempotencyKey, tenant, traceId = newId() }) {
      const paymentId = paymentIdOf(orderId)
      // A payment remembers what caused it, so the key needs no memory of its own. Not part of it: the amount.
      const causationId =
        idempotencyKey === undefined ? newId() : deterministicId('payment-request', app.id, orderId, idempotencyKey)
      const cause = { causationId, correlationId: traceId, traceId, at: now().toISOString() }
      const charge = { ...cause, orderId, amount, source: 'Manual' as const, ...ownerOf(tenant) }
      const { state } = await saveFact(tenant.id, orderId, (known) => decide(known, { type: 'charge', charge }, policy))
      // Announcing what another request decided is harmless, and heals one that died before it could.
      await announce(publish, resultOf(app, state), orderId).catch((error: unknown) => {
        if (!isInfrastructure(error)) throw error
        const detail = 'The payment is stored but may not be announced. Send the request again until it is not.'
        throw new UncertainError(detail, { details: { paymentId }, cause: error })
      })
      const { decision } = state
      if (decision?.causationId !== causationId) {
        const message = `There is one payment per order; this one is at /v1/payments/${paymentId}.`
        throw new PaymentError('payment-exists', message, { paymentId })
      }
      if (decision.amount !== amount) {
        const message = 'This key was used with another amount before. Send a new key, or leave it out.'
        throw new PaymentError('idempotency-key-reused', message, { paymentId })
      }
      return paymentOf(paymentId, state) as Payment
    },
  }
}
