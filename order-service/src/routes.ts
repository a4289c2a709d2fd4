import {
  amountRule,
  type Currency,
  contractFields,
  dateTime,
  getRoute,
  guidText,
  idempotencyKey,
  jsonBody,
  listRoute,
  model,
  pathId,
  type Route,
  route,
  text,
} from '@orderflow/service-kit'
import { type Order, type Orders, orderStatuses, type PlaceOrder, placedType } from './order.ts'

const placed = contractFields(placedType, 'OrderId')

const newOrder = (currency: Currency) =>
  jsonBody<PlaceOrder>(
    'NewOrder',
    { ...placed, total: [placedType, 'Total', amountRule(currency)] },
    { total: currency.decimals > 0 ? 42.5 : 42 },
  )

const order = model<Order>('Order', {
  id: guidText,
  ...placed,
  currency: { ...text, description: 'ISO 4217 code of the currency of all amounts.' },
  status: { ...text, enum: orderStatuses },
  createdAt: dateTime,
  payableUntil: { ...dateTime, description: 'The order expires at this time. Set while it waits for its payment.' },
  correlationId: guidText,
  traceId: guidText,
  payment: {
    type: 'object',
    properties: { id: guidText, amount: { type: 'number' }, policy: text, reason: text },
  },
  warning: { ...text, description: 'Set if the charged amount differs from the total.' },
})

const exampleKey = 'my-first-order'

export function orderRoutes(orders: Orders, currency: Currency): Route[] {
  const shown = { path: '/v1/orders', model: order, example: orders.idOf({ idempotencyKey: exampleKey }) }
  return [
    route({
      method: 'post',
      path: '/v1/orders',
      scope: 'orders:write',
      summary: 'Create an order',
      input: {
        order: newOrder(currency),
        idempotencyKey: idempotencyKey({
          description:
            'Makes a retry safe: requests with the same key create one order, without a time limit. 1 to 255 visible ASCII ' +
            'characters that are hard to guess, such as a UUID. The same key with another body is refused (422). ' +
            'While the store is unavailable, the response is 503; requests that omit the key get 202.',
          example: exampleKey,
        }),
      },
      answers: {
        201: 'The order is in the log and in the store.',
        202: 'The order is in the log. It becomes readable when the state store is available again.',
      },
      body: order,
      refusals: ['idempotency-key-reused'],
      async handle({ order, idempotencyKey }, context) {
        const { id, view, isStored } = await orders.do.place(undefined, order, { ...context, idempotencyKey })
        return { status: isStored ? 201 : 202, body: view, location: `/v1/orders/${id}` }
      },
    }),
    listRoute(orders, shown),
    getRoute(orders, shown),
    route({
      method: 'post',
      path: '/v1/orders/{id}/cancel',
      scope: 'orders:write',
      summary: 'Cancel an order; a paid one is refunded',
      input: { id: pathId('id', { description: 'The id of the order.', example: shown.example }) },
      answers: { 200: 'The current order.' },
      body: order,
      refusals: ['not-found', 'not-cancellable'],
      handle: async ({ id }, context) => ({ status: 200, body: (await orders.do.cancel(id, undefined, context)).view }),
    }),
  ]
}
