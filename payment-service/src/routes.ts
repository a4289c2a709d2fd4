import {
  amountRule,
  type Currency,
  contractFields,
  dateTime,
  getRoute,
  guidText,
  idempotencyKey,
  jsonBody,
  keyReused,
  listRoute,
  model,
  type Route,
  route,
  text,
} from '@orderflow/service-kit'
import { type MakePayment, type Payment, type Payments, paymentIdOf, paymentStatuses } from './payment.ts'

const newPayment = (currency: Currency) =>
  jsonBody<MakePayment>(
    'NewPayment',
    {
      orderId: ['PaymentApproved@1', 'OrderId'],
      amount: ['PaymentApproved@1', 'Amount', amountRule(currency)],
    },
    { orderId: '7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e11', amount: currency.decimals > 0 ? 42.5 : 42 },
  )

const payment = model<Payment>('Payment', {
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

export function paymentRoutes(payments: Payments, currency: Currency): Route[] {
  const shown = { path: '/v1/payments', model: payment, example: '8a5b431c-2e4a-5a35-86fa-306159454d19' }
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
        const id = paymentIdOf(payment.orderId)
        const { view } = await payments.do.make(id, payment, { ...context, idempotencyKey })
        // After a rebuild, the kit no longer has the first body of a key. A success without a key is a new payment.
        if (view.amount !== payment.amount) throw keyReused('payment', id)
        return { status: 201, body: view, location: `/v1/payments/${id}` }
      },
    }),

    listRoute(payments, { ...shown, by: { orderId: paymentIdOf } }),
    getRoute(payments, shown),
  ]
}
