import { orderEvents } from '@orderflow/envelope-schema'
import { currencyCodes, currencyOf, defineService, guidText, openEntity, section } from '@orderflow/service-kit'
import { order } from './order.ts'
import { orderRoutes } from './routes.ts'

interface OwnSettings {
  /** The currency of all amounts, from services.json. */
  Money: { Currency: string }
}

export const service = defineService<OwnSettings>({
  root: new URL('..', import.meta.url),
  description:
    'Creates, shows and cancels orders. An order is paid a moment after its creation: request the order again to see its payment.',
  sections: {
    Money: section({
      Currency: {
        enum: currencyCodes,
        shared: true,
        description: 'The currency of all amounts.',
      },
    }),
  },
  produces: [orderEvents],
  refusals: {
    'not-found': { status: 404, title: 'Order not found' },
    'not-cancellable': { status: 409, title: 'The order cannot be cancelled' },
    'conflicting-order': { status: 409, title: 'The OrderId already has another order' },
    'invalid-amount': { status: 400, title: 'The amount has more decimals than the currency' },
    'idempotency-key-reused': { status: 422, title: 'The Idempotency-Key belongs to another order' },
  },
  problemMembers: { orderId: { ...guidText, description: 'The id of the affected order, if any.' } },
  create({ settings, ...context }) {
    const currency = currencyOf(settings.Money.Currency)
    const orders = openEntity(order(currency), context)
    return { entities: [orders], routes: orderRoutes(orders, currency) }
  },
})
