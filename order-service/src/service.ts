import { orderEvents } from '@orderflow/envelope-schema'
import { currencyCodes, currencyOf, defineService, guidText, openEntity, section } from '@orderflow/service-kit'
import { order } from './order.ts'
import { orderRoutes } from './routes.ts'

interface OwnSettings {
  /** The minutes after which an unpaid order expires. */
  Orders: { PaymentWithin: number }
  /** The currency of all amounts, from services.json. */
  Money: { Currency: string }
}

export const service = defineService<OwnSettings>({
  root: new URL('..', import.meta.url),
  description:
    'Creates, shows and cancels orders. An order is paid a moment after its creation: request the order again to see its payment.',
  sections: {
    Orders: section({
      PaymentWithin: {
        type: 'number',
        minimum: 0.01,
        maximum: 525_600,
        description: 'The time in minutes after which an unpaid order expires.',
      },
    }),
    Money: section({
      Currency: { enum: currencyCodes, shared: true, description: 'The currency of all amounts.' },
    }),
  },
  produces: [orderEvents],
  refusals: {
    'not-found': { status: 404, title: 'Order not found' },
    'not-cancellable': { status: 409, title: 'The order cannot be cancelled' },
    'foreign-order': { status: 409, title: 'This service did not announce the event of the order' },
    'conflicting-order': { status: 409, title: 'The OrderId already has another order' },
    'invalid-amount': { status: 400, title: 'The amount has more decimals than the currency' },
    'idempotency-key-reused': { status: 422, title: 'The Idempotency-Key belongs to another order' },
  },
  problemMembers: { orderId: { ...guidText, description: 'The id of the affected order, if any.' } },
  create({ settings, ...context }) {
    const currency = currencyOf(settings.Money.Currency)
    const orders = openEntity(order(currency, settings.Orders.PaymentWithin * 60_000), context)
    return { entities: [orders], routes: orderRoutes(orders, currency) }
  },
})
