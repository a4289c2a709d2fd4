import { orderEvents } from '@orderflow/envelope-schema'
import { defineService, guidText } from '@orderflow/service-kit'
import { createCommands } from './commands.ts'
import { createReactions } from './reactions.ts'
import { orderRoutes } from './routes/orders.ts'
import { createStore } from './store.ts'

export const service = defineService({
  root: new URL('..', import.meta.url),
  description: 'Orders, and what became of them. An order is paid a moment after it is created: get it again.',
  produces: [orderEvents],
  refusals: {
    'not-found': { status: 404, title: 'Order not found' },
    'not-cancellable': { status: 409, title: 'The order cannot be cancelled' },
    'conflicting-order': { status: 409, title: 'The OrderId is known with another order' },
    'idempotency-key-reused': { status: 422, title: 'The Idempotency-Key stands for another order' },
  },
  problemMembers: { orderId: { ...guidText, description: 'The order in question, if there is one.' } },
  create({ documents, ...context }) {
    const store = createStore(documents)
    const reactions = createReactions(store)
    return { routes: orderRoutes(createCommands(store, context), store), reactions, rebuild: reactions }
  },
})
