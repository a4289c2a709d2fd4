import { type EventName, orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import type { Handler, Received } from '@orderflow/service-kit'
import { announcedFact } from './announcements.ts'
import type { PaymentStore } from './store.ts'

/**
 * How payment-service rebuilds its store from the log: decisions and refunds as it announced them, never decided anew.
 * A cancellation that refunds nothing announces nothing, so those come from the orders' own events.
 */
export function createReplay(app: { id: string; name: string }, store: PaymentStore) {
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
