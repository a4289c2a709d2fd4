/** A service with an entity whose state depends on the sequence of its events. It replaces payment-service in the measurement of one busy key. */

import { service } from '@orderflow/payment-service/service'
import { entity, openEntity, run } from '@orderflow/service-kit'

interface Balance {
  total: number
  orders: number
}

const balance = entity({
  name: 'balance',
  id: ({ OrderId }) => OrderId,
  events: ['PaymentApproved'],
  initial: { total: 0, orders: 0 } as Balance,
  evolve: {
    PaymentApproved: ({ total, orders }, { Payload }) => ({ total: total + Payload.Amount, orders: orders + 1 }),
  },
  on: {
    OrderCreated: ({ Payload: { OrderId, Total } }, { orders }, { newId }) => ({
      PaymentApproved: {
        ...{ PaymentId: newId(), OrderId, Amount: Total, Source: 'OrderCreated' as const },
        Policy: `order ${orders + 1}`,
      },
    }),
  },
  view: (state) => state,
})

await run({
  ...service,
  create: ({ settings, ...context }) => ({ entities: [openEntity(balance, context)], routes: [] }),
})
