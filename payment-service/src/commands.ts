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

export interface RequestContext {
  tenant: Tenant
  /** 1 to 255 characters. Without a key, a retry fails because the order already has a payment. */
  idempotencyKey?: string | undefined
  /** The id of the request's trace, a GUID. Default: a new trace. */
  traceId?: string | undefined
}

export interface Commands {
  /**
   * Decides with the same policy as the reaction to OrderCreated, stores the decision, then announces it. A request with the key of an
   * earlier request returns the payment of that earlier request.
   * @throws {PaymentError} `payment-exists`, `idempotency-key-reused`
   * @throws {UncertainError} if the payment is stored, and it is unknown whether it was announced
   */
  make(input: MakePayment, context: RequestContext): Promise<Payment>
}

type Dependencies = Pick<ServiceContext, 'app' | 'publish' | 'now' | 'newId'>

export function createCommands(
  { saveFact, claim }: Pick<PaymentStore, 'saveFact' | 'claim'>,
  policy: Policy,
  { app, publish, now, newId }: Dependencies,
): Commands {
  return {
    async make({ orderId, amount }, { idempotencyKey, tenant, traceId = newId() }) {
      const paymentId = paymentIdOf(orderId)
      // The announced event contains this id as its CausationId, so a rebuild can restore which order a key belongs to.
      const causationId =
        idempotencyKey === undefined
          ? newId()
          : // Two tenants can use the same key for different orders.
            // biome-ignore lint/plugin/no-spread-arguments: a request has at most one tenant
            deterministicId('payment-key', app.id, ...(tenant.id ? [tenant.id] : []), idempotencyKey)
      if (idempotencyKey !== undefined) {
        const holder = await claim(tenant.id, causationId, orderId)
        if (holder !== orderId) throw keyReused('for another order', paymentIdOf(holder))
      }
      const cause = { causationId, correlationId: traceId, traceId, at: now().toISOString() }
      const charge = { ...cause, orderId, amount, source: 'Manual' as const, ...ownerOf(tenant) }
      const { state } = await saveFact(tenant.id, orderId, (known) => decide(known, { type: 'charge', charge }, policy))
      // Announces the decision of an earlier request, too, because the process of that request may have ended before the announcement.
      await announce(publish, resultOf(app, state)).catch((error: unknown) => {
        if (!isInfrastructure(error)) throw error
        const detail = 'The payment is stored but may not be announced. Send the request again until it succeeds.'
        throw new UncertainError(detail, { details: { paymentId }, cause: error })
      })
      const { decision } = state
      if (decision?.causationId !== causationId) {
        const message = `The order already has a payment: see /v1/payments/${paymentId}.`
        throw new PaymentError('payment-exists', message, { paymentId })
      }
      if (decision?.amount !== amount) throw keyReused('with another amount', paymentId)
      return paymentOf(paymentId, state) as Payment
    },
  }
}

function keyReused(how: string, paymentId: string): PaymentError {
  const message = `This key was already used ${how}. Send a new key, or none.`
  return new PaymentError('idempotency-key-reused', message, { paymentId })
}
