import { orderEvents } from '@orderflow/envelope-schema'
import {
  type Consumer,
  createConsumers,
  type Handler,
  type Logger,
  PermanentFault,
  type Publish,
  type Received,
} from '@orderflow/service-kit'
import { announce, refundOf, resultOf } from './announcements.ts'
import type { Cause } from './domain/payment.ts'
import type { PaymentStore } from './store.ts'

export interface SubscriptionDependencies {
  app: { id: string; name: string }
  store: PaymentStore
  publish: Publish
  log: Logger
  now: () => Date
}

type Handled = 'OrderCreated' | 'OrderCancelled'

/** What payment-service does with each topic's events: it charges what was ordered and refunds what was cancelled. */
export function createHandlers({ app, store, publish, now }: Omit<SubscriptionDependencies, 'log'>) {
  const causeOf = (event: Received<Handled>): Cause => ({
    causationId: event.Id,
    correlationId: event.CorrelationId,
    traceId: event.TraceId,
    at: now().toISOString(),
  })

  async function charge(event: Received<'OrderCreated'>): Promise<void> {
    const { OrderId: orderId, Total: amount } = event.Payload
    const cause = causeOf(event)
    const state = await store.settle(orderId, {
      type: 'charge',
      charge: { ...cause, orderId, amount, source: 'OrderCreated' },
    })
    if (state.decision?.source === 'OrderCreated' && state.decision.amount !== amount) {
      throw new PermanentFault('conflicting-order', 'this OrderId was charged with another total')
    }
    await announce(publish, resultOf(app, state), orderId)
  }

  async function cancel(event: Received<'OrderCancelled'>): Promise<void> {
    const orderId = event.Payload.OrderId
    const state = await store.settle(orderId, { type: 'cancel', cause: causeOf(event) })
    await announce(publish, refundOf(app, state), orderId)
  }

  const handle = (event: Received<Handled>) => (event.Name === 'OrderCreated' ? charge(event) : cancel(event))
  return {
    [orderEvents]: { handles: ['OrderCreated', 'OrderCancelled'], handle },
  } satisfies Record<string, Handler<Handled>>
}

export function createSubscriptions({ log, ...dependencies }: SubscriptionDependencies): Record<string, Consumer> {
  const { app, publish, now } = dependencies
  return createConsumers<Handled>(createHandlers(dependencies), { app: app.name, publish, log, now })
}
