import { type Currency, orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import type { Reactions } from '@orderflow/service-kit'
import { type OrderEvent, requireAmount } from './domain/order.ts'
import type { OrderStore } from './store.ts'

type Save = Pick<OrderStore, 'saveFact'>

/**
 * Saves each event as a fact, even the events of this service, because a request may have failed to save its event.
 */
export function createReactions({ saveFact }: Save, currency: Currency): Reactions<boolean> {
  return createRebuild({
    async saveFact(event: OrderEvent) {
      requireAmount(event, currency)
      return saveFact(event)
    },
  })
}

/**
 * Returns the reactions that rebuild the store from the log. They check no amounts: events with invalid amounts are dead letters, which a
 * rebuild skips.
 */
export function createRebuild({ saveFact }: Save): Reactions<boolean> {
  return {
    [orderEvents]: { OrderCreated: saveFact, OrderCancelled: saveFact },
    [paymentEvents]: { PaymentApproved: saveFact, PaymentRejected: saveFact, PaymentRefunded: saveFact },
  }
}
