import type { Currency } from '@orderflow/envelope-schema'
import {
  type Answer,
  amountRule,
  contractFields,
  dateTime,
  guidText,
  idempotencyKey,
  jsonBody,
  model,
  pageOf,
  pageOptions,
  pathId,
  type Route,
  route,
  text,
} from '@orderflow/service-kit'
import { type Commands, orderIdOf, type Placed } from '../commands.ts'
import { type Order, OrderError, orderOf, orderStatuses, type PlaceOrder, placedType } from '../domain/order.ts'
import type { OrderStore } from '../store.ts'

const placed = contractFields(placedType, 'OrderId')

const newOrder = (currency: Currency) =>
  jsonBody<PlaceOrder>(
    'NewOrder',
    { ...placed, total: [placedType, 'Total', amountRule(currency)] },
    { total: currency.decimals > 0 ? 42.5 : 42 },
  )

type Shown = Order & { currency: string }

const order = model<Shown>('Order', {
  id: guidText,
  ...placed,
  currency: { ...text, description: 'ISO 4217 code of the currency of all amounts.' },
  status: { ...text, enum: orderStatuses },
  createdAt: dateTime,
  correlationId: guidText,
  traceId: guidText,
  payment: {
    type: 'object',
    properties: { id: guidText, amount: { type: 'number' }, policy: text, reason: text },
  },
  warning: { ...text, description: 'Set if the charged amount differs from the total.' },
})

const exampleKey = 'my-first-order'

export function orderRoutes(commands: Commands, store: OrderStore, currency: Currency, appId: string): Route[] {
  const orderId = pathId('id', {
    description: 'The order’s id. The example is the id that “Create an order” returns for its example.',
    example: orderIdOf(appId, '', exampleKey),
  })
  const shown = (order: Order): Shown => ({ ...order, currency: currency.code })
  const answerOf = <S extends number>({ order, stored }: Placed, status: S): Answer<S | 202, Shown> => ({
    status: stored ? status : 202,
    body: shown(order),
  })
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
            'characters that are hard to guess, such as a UUID. The same key with another body is refused (422). The key ' +
            'is reserved in the state store first. While the store is unavailable, the response is 503 and no event is published; ' +
            'requests that omit the key get 202.',
          example: exampleKey,
        }),
      },
      answers: {
        201: 'The order is in the log and in the store.',
        202: 'The order is in the log. It becomes readable when the state store is available again.',
      },
      body: order,
      refusals: ['idempotency-key-reused', 'conflicting-order'],
      async handle({ order, idempotencyKey }, context) {
        const placed = await commands.place(order, { ...context, idempotencyKey })
        return { ...answerOf(placed, 201), location: `/v1/orders/${placed.order.id}` }
      },
    }),

    route({
      method: 'get',
      path: '/v1/orders',
      scope: 'orders:read',
      summary: 'List orders, newest arrival first',
      input: { page: pageOptions },
      answers: { 200: 'A page of orders; `next` is null on the last page.' },
      body: pageOf(order),
      async handle({ page }, { tenant }) {
        const { items, next } = await store.page(tenant.id, page)
        return { status: 200, body: { items: items.map(shown), next } }
      },
    }),

    route({
      method: 'get',
      path: '/v1/orders/{id}',
      scope: 'orders:read',
      summary: 'Get an order',
      input: { id: orderId },
      answers: { 200: 'The current order.' },
      body: order,
      refusals: ['not-found'],
      async handle({ id }, { tenant }) {
        const found = orderOf(await store.find(tenant.id, id))
        if (!found)
          throw new OrderError('not-found', `There is no order ${id}. A new order may take a moment to appear.`)
        return { status: 200, body: shown(found) }
      },
    }),

    route({
      method: 'post',
      path: '/v1/orders/{id}/cancel',
      scope: 'orders:write',
      summary: 'Cancel an order; a paid one is refunded',
      input: { id: orderId },
      answers: {
        200: 'The current order.',
        202: 'The cancellation is in the log. The order shows it when the state store is available again.',
      },
      body: order,
      refusals: ['not-found', 'not-cancellable'],
      handle: async ({ id }, context) => answerOf(await commands.cancel(id, context), 200),
    }),
  ]
}
