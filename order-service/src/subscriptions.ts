import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { type Consumer, createConsumers, type Handler, type Logger, type Publish } from '@orderflow/service-kit'
import type { OrderEvent, OrderEventName } from './domain/order.ts'
import type { OrderStore } from './store.ts'

export interface SubscriptionDependencies {
  app: { name: string }
  store: OrderStore
  publish: Publish
  log: Logger
  now: () => Date
}

/**
 * What order-service does with each topic's events: it keeps them as facts. From `orderevents` it saves what its own
 * requests could not (crash repair) and takes in the orders that other applications publish.
 */
export function createHandlers(store: OrderStore) {
  const handle = (event: OrderEvent) => store.record(event)
  return {
    [orderEvents]: { handles: ['OrderCreated', 'OrderCancelled'], handle },
    [paymentEvents]: { handles: ['PaymentApproved', 'PaymentRejected', 'PaymentRefunded'], handle },
  } satisfies Record<string, Handler<OrderEventName, boolean>>
}

export function createSubscriptions({
  app,
  store,
  publish,
  log,
  now,
}: SubscriptionDependencies): Record<string, Consumer> {
  return createConsumers<OrderEventName>(createHandlers(store), { app: app.name, publish, log, now })
}
