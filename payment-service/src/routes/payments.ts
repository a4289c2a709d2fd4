import type { Currency } from '@orderflow/envelope-schema'
import {
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
  queryId,
  type Route,
  route,
  text,
} from '@orderflow/service-kit'
import type { Commands, MakePayment } from '../commands.ts'
import { type Payment, PaymentError, paymentStatuses } from '../domain/payment.ts'
import { type PaymentStore, paymentIdOf } from '../store.ts'

const newPayment = (currency: Currency) =>
  jsonBody<MakePayment>(
    'NewPayment',
    {
      orderId: ['PaymentApproved@1', 'OrderId'],
      amount: ['PaymentApproved@1', 'Amount', amountRule(currency)],
    },
    { orderId: '7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e11', amount: currency.decimals > 0 ? 42.5 : 42 },
  )

type Shown = Payment & { currency: string }

const payment = model<Shown>('Payment', {
  id: guidText,
  ...contractFields('PaymentApproved@1', 'PaymentId'),
  currency: { ...text, description: 'ISO 4217 code of the currency of the amount.' },
  status: { ...text, enum: paymentStatuses },
  reason: { ...text, description: 'The reason of the rejection.' },
  createdAt: dateTime,
  refundedAt: dateTime,
  correlationId: guidText,
  traceId: guidText,
})

const paymentId = pathId('id', {
  description: 'The payment’s id. The example is the id that “Make a payment on request” returns for its example.',
  example: '8a5b431c-2e4a-5a35-86fa-306159454d19',
})

export function paymentRoutes(commands: Commands, store: PaymentStore, currency: Currency): Route[] {
  const shown = (payment: Payment): Shown => ({ ...payment, currency: currency.code })
  return [
    route({
      method: 'post',
      path: '/v1/payments',
      scope: 'payments:write',
      summary: 'Make a payment on request',
      description:
        'An order has one payment, which is normally made when its OrderCreated arrives. Use this operation for orders that are paid ' +
        'before they arrive, or outside the platform. The same policy decides.',
      input: {
        payment: newPayment(currency),
        idempotencyKey: idempotencyKey({
          description:
            'Makes a retry safe: a request with the same key returns the payment of the first request, without a time limit. Without a key, a retry ' +
            'returns 409. 1 to 255 visible ASCII characters. The same key with another amount or order is refused (422).',
          example: 'my-first-payment',
        }),
      },
      answers: { 201: 'The payment was decided: see its status.' },
      body: payment,
      refusals: ['payment-exists', 'idempotency-key-reused'],
      async handle({ payment, idempotencyKey }, context) {
        const made = await commands.make(payment, { ...context, idempotencyKey })
        return { status: 201, body: shown(made), location: `/v1/payments/${made.id}` }
      },
    }),

    route({
      method: 'get',
      path: '/v1/payments',
      scope: 'payments:read',
      summary: 'List payments, newest first, or the payment of one order',
      input: { page: pageOptions, orderId: queryId('orderId', { description: "Returns only this order's payment." }) },
      answers: { 200: 'A page of payments; `next` is null on the last page.' },
      body: pageOf(payment),
      async handle({ page, orderId }, { tenant }) {
        if (orderId === undefined) {
          const { items, next } = await store.page(tenant.id, page)
          return { status: 200, body: { items: items.map(shown), next } }
        }
        const found = await store.find(tenant.id, paymentIdOf(orderId))
        return { status: 200, body: { items: found ? [shown(found)] : [], next: null } }
      },
    }),

    route({
      method: 'get',
      path: '/v1/payments/{id}',
      scope: 'payments:read',
      summary: 'Get a payment',
      input: { id: paymentId },
      answers: { 200: 'The current payment.' },
      body: payment,
      refusals: ['not-found'],
      async handle({ id }, { tenant }) {
        const found = await store.find(tenant.id, id)
        if (!found) throw new PaymentError('not-found', `There is no payment ${id}.`)
        return { status: 200, body: shown(found) }
      },
    }),
  ]
}
