import {
  amountFlaw,
  type Currency,
  type FullEvent,
  orderEvents,
  paymentEvents,
  tenantOf,
} from '@orderflow/envelope-schema'
import type { Reactions, ServiceContext } from '@orderflow/service-kit'
import { announce, announcedFact, refundOf, resultOf } from './announcements.ts'
import { type Cause, decide, ownerOf, PaymentError } from './domain/payment.ts'
import type { Policy } from './domain/policy.ts'
import { type PaymentStore, paymentIdOf } from './store.ts'

type Dependencies = Pick<ServiceContext, 'app' | 'publish' | 'now'>

export function createReactions(
  { saveFact }: Pick<PaymentStore, 'saveFact'>,
  policy: Policy,
  currency: Currency,
  { app, publish, now }: Dependencies,
): Reactions<boolean> {
  const causeOf = (event: FullEvent<'OrderCreated' | 'OrderCancelled'>): Cause => ({
    causationId: event.Id,
    correlationId: event.CorrelationId,
    traceId: event.TraceId,
    at: now().toISOString(),
  })

  async function charge(event: FullEvent<'OrderCreated'>): Promise<boolean> {
    const { OrderId: orderId, Total: amount } = event.Payload
    const flaw = amountFlaw(amount, currency)
    if (flaw) throw new PaymentError('invalid-amount', `Total ${flaw}`, { paymentId: paymentIdOf(orderId) })
    const tenant = tenantOf(event)
    const charge = { ...causeOf(event), orderId, amount, source: 'OrderCreated' as const, ...ownerOf(tenant) }
    const { state, changed } = await saveFact(tenant.id, orderId, (known) =>
      decide(known, { type: 'charge', charge }, policy),
    )
    if (state.decision?.source === 'OrderCreated' && state.decision.amount !== amount) {
      throw new PaymentError('conflicting-order', 'this OrderId was charged with another total')
    }
    await announce(publish, resultOf(app, state))
    return changed
  }

  async function cancel(event: FullEvent<'OrderCancelled'>): Promise<boolean> {
    const orderId = event.Payload.OrderId
    const cause = causeOf(event)
    const { state, changed } = await saveFact(tenantOf(event).id, orderId, (known) =>
      decide(known, { type: 'cancel', cause }, policy),
    )
    await announce(publish, refundOf(app, state))
    return changed
  }

  return { [orderEvents]: { OrderCreated: charge, OrderCancelled: cancel } }
}

/**
 * Restores decisions and refunds from their announcements, and makes no new decision. Restores cancellations from the events of orders,
 * because payment-service announces only refunds.
 */
export function createRebuild(
  { saveFact, claim }: Pick<PaymentStore, 'saveFact' | 'claim'>,
  { app }: Pick<Dependencies, 'app'>,
): Reactions<boolean> {
  async function restore(
    event: FullEvent<'PaymentApproved' | 'PaymentRejected' | 'PaymentRefunded'>,
  ): Promise<boolean> {
    const fact = announcedFact(app, event)
    const [tenant, orderId] = [tenantOf(event).id, event.Payload.OrderId]
    // If the request had no Idempotency-Key, its cause is random, and the claim stays unused.
    if (fact.type === 'decided' && fact.decision.source === 'Manual')
      await claim(tenant, fact.decision.causationId, orderId)
    return (await saveFact(tenant, orderId, () => fact)).changed
  }
  async function restoreCancellation(event: FullEvent<'OrderCancelled'>): Promise<boolean> {
    return (await saveFact(tenantOf(event).id, event.Payload.OrderId, () => ({ type: 'cancelled' }))).changed
  }
  return {
    [paymentEvents]: { PaymentApproved: restore, PaymentRejected: restore, PaymentRefunded: restore },
    [orderEvents]: { OrderCancelled: restoreCancellation },
  }
}
