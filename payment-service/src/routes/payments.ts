import { bodyReader, notFound, readGuid, readPageOptions, readQueryGuid } from '@orderflow/service-kit'
import { Router } from 'express'
import type { Commands, MakePayment } from '../commands.ts'
import { type PaymentStore, paymentIdOf } from '../store.ts'

const readMakePayment = bodyReader<MakePayment>({
  orderId: ['PaymentApproved', 'OrderId'],
  amount: ['PaymentApproved', 'Amount'],
})

/**
 * @openapi
 * components:
 *   parameters:
 *     PaymentId:
 *       name: id
 *       in: path
 *       required: true
 *       description: The payment's id. The example is the payment that the create example makes.
 *       schema: { type: string, format: uuid }
 *       example: 8a5b431c-2e4a-5a35-86fa-306159454d19
 *   schemas:
 *     NewPayment:
 *       type: object
 *       required: [orderId, amount]
 *       properties:
 *         orderId: { type: string, format: uuid }
 *         amount: { type: number, minimum: 0, maximum: 1000000000000 }
 *       example: { orderId: 7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e11, amount: 42.5 }
 *     Payment:
 *       type: object
 *       properties:
 *         id: { type: string, format: uuid }
 *         orderId: { type: string, format: uuid }
 *         amount: { type: number }
 *         status: { type: string, enum: [Approved, Rejected, Refunded] }
 *         policy: { type: string, description: Name and version of the policy that decided. }
 *         reason: { type: string, description: Why it was rejected. }
 *         source: { type: string, enum: [OrderCreated, Manual] }
 *         createdAt: { type: string, format: date-time }
 *         refundedAt: { type: string, format: date-time }
 *         correlationId: { type: string, format: uuid }
 *         traceId: { type: string, format: uuid }
 */
export function paymentRoutes(commands: Commands, store: PaymentStore): Router {
  const router = Router()

  /**
   * @openapi
   * /v1/payments:
   *   post:
   *     summary: Make a payment by hand
   *     description: >
   *       One payment per order. An order's own payment is made when its OrderCreated arrives, so this is for orders
   *       that are paid before, or outside, the platform. The same policy decides.
   *     tags: [payments]
   *     requestBody:
   *       required: true
   *       content: { application/json: { schema: { $ref: '#/components/schemas/NewPayment' } } }
   *     responses:
   *       201:
   *         description: The payment was decided; see its status.
   *         headers: { Location: { schema: { type: string } } }
   *         content: { application/json: { schema: { $ref: '#/components/schemas/Payment' } } }
   *       400: { $ref: '#/components/responses/Problem' }
   *       403: { $ref: '#/components/responses/Problem' }
   *       409: { $ref: '#/components/responses/Problem' }
   *       413: { $ref: '#/components/responses/Problem' }
   *       415: { $ref: '#/components/responses/Problem' }
   *       503: { $ref: '#/components/responses/Problem' }
   */
  router.post('/v1/payments', async (request, response) => {
    const payment = await commands.make(readMakePayment(request.body), { traceparent: request.get('traceparent') })
    response.status(201).location(`/v1/payments/${payment.id}`).json(payment)
  })

  /**
   * @openapi
   * /v1/payments:
   *   get:
   *     summary: List payments, newest first; or the one of an order
   *     tags: [payments]
   *     parameters:
   *       - { name: orderId, in: query, description: Only this order's payment., schema: { type: string, format: uuid } }
   *       - { $ref: '#/components/parameters/Limit' }
   *       - { $ref: '#/components/parameters/Cursor' }
   *     responses:
   *       200:
   *         description: A page of payments; `next` is null on the last one.
   *         content:
   *           application/json:
   *             schema:
   *               type: object
   *               properties:
   *                 items: { type: array, items: { $ref: '#/components/schemas/Payment' } }
   *                 next: { type: string, nullable: true }
   *       400: { $ref: '#/components/responses/Problem' }
   *       503: { $ref: '#/components/responses/Problem' }
   */
  router.get('/v1/payments', async (request, response) => {
    const options = readPageOptions(request)
    const orderId = readQueryGuid(request, 'orderId')
    if (orderId === undefined) return response.json(await store.page(options))
    const payment = await store.find(paymentIdOf(orderId))
    return response.json({ items: payment ? [payment] : [], next: null })
  })

  /**
   * @openapi
   * /v1/payments/{id}:
   *   get:
   *     summary: Get a payment
   *     tags: [payments]
   *     parameters: [{ $ref: '#/components/parameters/PaymentId' }]
   *     responses:
   *       200:
   *         description: The payment as it stands.
   *         content: { application/json: { schema: { $ref: '#/components/schemas/Payment' } } }
   *       400: { $ref: '#/components/responses/Problem' }
   *       404: { $ref: '#/components/responses/Problem' }
   *       503: { $ref: '#/components/responses/Problem' }
   */
  router.get('/v1/payments/:id', async (request, response) => {
    const id = readGuid('id', request.params.id)
    const payment = await store.find(id)
    if (!payment) throw notFound('Payment', `There is no payment ${id}.`)
    response.json(payment)
  })

  return router
}
