import { type Currency, orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import type { Reactions } from '@orderflow/service-kit'
import { type OrderEvent, requireAmount } from './domain/order.ts'
import type { OrderStore } from './store.ts'

type Save = Pick<OrderStore, 'saveFact'>

/**
 * What order-service does with each topic's events: it keeps them as facts. From `orderevents` it saves what its own
 * requests could not (crash repair) and takes in the orders that other applications publish.
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
 * How order-service rebuilds its store from the log. A fact is made of its event alone. Amounts were judged when the events came: those that
 * were refused are dead letters, which a rebuild leaves out.
 */
export function createRebuild({ saveFact }: Save): Reactions<boolean> {
  return {
    [orderEvents]: { OrderCreated: saveFact, OrderCancelled: saveFact },
    [paymentEvents]: { PaymentApproved: saveFact, PaymentRejected: saveFact, PaymentRefunded: saveFact },
  }
}
