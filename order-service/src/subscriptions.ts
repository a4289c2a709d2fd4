import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { type Consumer, createConsumer, type Logger, type Publish } from '@orderflow/service-kit'
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
export function createSubscriptions({
  app,
  store,
  publish,
  log,
  now,
}: SubscriptionDependencies): Record<string, Consumer> {
  const common = { app: app.name, publish, log, now, handle: (event: OrderEvent) => store.record(event) }
  return {
    [orderEvents]: createConsumer<OrderEventName>({
      ...common,
      topic: orderEvents,
      handles: ['OrderCreated', 'OrderCancelled'],
    }),
    [paymentEvents]: createConsumer<OrderEventName>({
      ...common,
      topic: paymentEvents,
      handles: ['PaymentApproved', 'PaymentRejected', 'PaymentRefunded'],
    }),
  }
}
