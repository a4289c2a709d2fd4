import { type EventName, orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { createArrivalList, createReader, createUnitOfWork, type Handler, type Received } from '@orderflow/service-kit'
import type { RebuildDependencies } from '@orderflow/service-kit/operations'
import { announcedFact } from './announcements.ts'
import { amountLimit } from './domain/policy.ts'
import type { Settings } from './settings.ts'
import { createStore } from './store.ts'

/**
 * How payment-service rebuilds its store from the log: decisions and refunds as it announced them, never decided anew.
 * A cancellation that refunds nothing announces nothing, so those come from the orders' own events.
 */
export function createReplay({ settings, sidecar, now }: RebuildDependencies<Settings>) {
  const app = { id: settings.App.Id, name: settings.App.Name }
  const commit = createUnitOfWork(sidecar, createArrivalList(now))
  const store = createStore(createReader(sidecar), commit, amountLimit(settings.Policy.ApproveUpTo))
  return {
    [paymentEvents]: {
      handles: ['PaymentApproved', 'PaymentRejected', 'PaymentRefunded'],
      handle: (event: Received<'PaymentApproved' | 'PaymentRejected' | 'PaymentRefunded'>) =>
        store.restore(event.Payload.OrderId, announcedFact(app, event)),
    },
    [orderEvents]: {
      handles: ['OrderCancelled'],
      handle: (event: Received<'OrderCancelled'>) => store.restore(event.Payload.OrderId, { type: 'cancelled' }),
    },
  } satisfies Record<string, Handler<EventName, boolean>>
}
