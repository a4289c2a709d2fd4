import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import type { Reactions } from '@orderflow/service-kit'
import type { OrderStore } from './store.ts'

/**
 * What order-service does with each topic's events: it keeps them as facts. From `orderevents` it saves what its own
 * requests could not (crash repair) and takes in the orders that other applications publish. A fact is made of its event
 * alone, so its store is rebuilt in the same way.
 */
export function createReactions({ saveFact }: Pick<OrderStore, 'saveFact'>): Reactions<boolean> {
  return {
    [orderEvents]: { 'OrderCreated@1': saveFact, 'OrderCancelled@1': saveFact },
    [paymentEvents]: { 'PaymentApproved@1': saveFact, 'PaymentRejected@1': saveFact, 'PaymentRefunded@1': saveFact },
  }
}
