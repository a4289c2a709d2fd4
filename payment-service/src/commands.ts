import { deterministicId, type Tenant } from '@orderflow/envelope-schema'
import { isInfrastructure, type ServiceContext, UncertainError } from '@orderflow/service-kit'
import { announce, resultOf } from './announcements.ts'
import { decide, ownerOf, type Payment, PaymentError, paymentOf } from './domain/payment.ts'
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
  { saveFact, claim }: Pick<PaymentStore, 'saveFact' | 'claim'>,
  policy: Policy,
  { app, publish, now, newId }: Dependencies,
): Commands {
  /** Whether a payment was made by 0.1.0 with this key, which it derived for each order. */
  const isOfOldKey = (causationId: string | undefined, orderId: string, key: string | undefined) =>
    key !== undefined && causationId === deterministicId('payment-request', app.id, orderId, key)

  return {
    async make({ orderId, amount }, { idempotencyKey, tenant, traceId = newId() }) {
      const paymentId = paymentIdOf(orderId)
      // The event of a payment tells what caused it, so a rebuild restores the order of a key. Not part of it: the amount.
      const causationId =
        idempotencyKey === undefined
          ? newId()
          : // One tenant's key is not another's.
            // biome-ignore lint/plugin/no-spread-arguments: one tenant at most
            deterministicId('payment-key', app.id, ...(tenant.id ? [tenant.id] : []), idempotencyKey)
      if (idempotencyKey !== undefined) {
        const holder = await claim(tenant.id, causationId, orderId)
        if (holder !== orderId) throw keyReused('for another order', paymentIdOf(holder))
      }
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
      if (decision?.causationId !== causationId && !isOfOldKey(decision?.causationId, orderId, idempotencyKey)) {
        const message = `There is one payment per order; this one is at /v1/payments/${paymentId}.`
        throw new PaymentError('payment-exists', message, { paymentId })
      }
      if (decision?.amount !== amount) throw keyReused('with another amount', paymentId)
      return paymentOf(paymentId, state) as Payment
    },
  }
}

function keyReused(how: string, paymentId: string): PaymentError {
  const message = `This key was used ${how} before. Send a new key, or leave it out.`
  return new PaymentError('idempotency-key-reused', message, { paymentId })
}
