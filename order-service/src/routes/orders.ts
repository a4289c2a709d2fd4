import { bodyReader, notFound, type Page, readGuid, readIdempotencyKey, readPageOptions } from '@orderflow/service-kit'
import { type Response, Router } from 'express'
import type { Commands, Placed, PlaceOrder } from '../commands.ts'
import { type Order, orderOf } from '../domain/order.ts'
import type { OrderStore } from '../store.ts'

const readPlaceOrder = bodyReader<PlaceOrder>({
  customerName: ['OrderCreated', 'CustomerName'],
  customerTaxId: ['OrderCreated', 'CustomerTaxId'],
  total: ['OrderCreated', 'Total'],
})

/**
 * @openapi
 * components:
 *   parameters:
 *     OrderId:
 *       name: id
 *       in: path
 *       required: true
 *       description: The order's id. The example is the order that the create example makes.
 *       schema: { type: string, format: uuid }
 *       example: 031aff78-1624-538c-8cad-a151a472f9fd
 *   schemas:
 *     NewOrder:
 *       type: object
 *       required: [customerName, customerTaxId, total]
 *       properties:
 *         customerName: { type: string, minLength: 1, maxLength: 200 }
 *         customerTaxId: { type: string, minLength: 1, maxLength: 64, description: Free text. }
 *         total: { type: number, minimum: 0, maximum: 1000000000000 }
 *       example: { customerName: Ada Lovelace, customerTaxId: GB-123456789, total: 42.5 }
 *     Order:
 *       type: object
 *       properties:
 *         id: { type: string, format: uuid }
 *         customerName: { type: string }
 *         customerTaxId: { type: string }
 *         total: { type: number }
 *         status: { type: string, enum: [Created, Paid, PaymentRejected, Cancelled, Refunded] }
 *         createdAt: { type: string, format: date-time }
 *         correlationId: { type: string, format: uuid }
 *         traceId: { type: string, format: uuid }
 *         payment:
 *           type: object
 *           properties:
 *             id: { type: string, format: uuid }
 *             amount: { type: number }
 *             policy: { type: string }
 *             reason: { type: string }
 *         warning: { type: string, description: Set when what was charged is not the total. }
 *   responses:
 *     Order:
 *       description: The order as it stands.
 *       content: { application/json: { schema: { $ref: '#/components/schemas/Order' } } }
 */
export function orderRoutes(commands: Commands, store: OrderStore): Router {
  const router = Router()

  /**
   * @openapi
   * /v1/orders:
   *   post:
   *     summary: Create an order
   *     tags: [orders]
   *     parameters:
   *       - name: Idempotency-Key
   *         in: header
   *         description: >
   *           Makes a retry safe: the same key is the same order, for ever, among all orders of this service.
   *           1 to 255 visible ASCII characters. The same key with another body is refused (422).
   *         schema: { type: string, minLength: 1, maxLength: 255 }
   *         example: my-first-order
   *     requestBody:
   *       required: true
   *       content: { application/json: { schema: { $ref: '#/components/schemas/NewOrder' } } }
   *     responses:
   *       201:
   *         description: The order is in the log and stored.
   *         headers: { Location: { schema: { type: string } } }
   *         content: { application/json: { schema: { $ref: '#/components/schemas/Order' } } }
   *       202:
   *         description: The order is in the log; it is readable as soon as the state store answers again.
   *         headers: { Location: { schema: { type: string } } }
   *         content: { application/json: { schema: { $ref: '#/components/schemas/Order' } } }
   *       400: { $ref: '#/components/responses/Problem' }
   *       403: { $ref: '#/components/responses/Problem' }
   *       413: { $ref: '#/components/responses/Problem' }
   *       415: { $ref: '#/components/responses/Problem' }
   *       422: { $ref: '#/components/responses/Problem' }
   *       503: { $ref: '#/components/responses/Problem' }
   */
  router.post('/v1/orders', async (request, response) => {
    const input = readPlaceOrder(request.body)
    const idempotencyKey = readIdempotencyKey(request)
    const placed = await commands.place(input, { idempotencyKey, traceparent: request.get('traceparent') })
    response.location(`/v1/orders/${placed.order.id}`)
    sendPlaced(response, placed, 201)
  })

  /**
   * @openapi
   * /v1/orders:
   *   get:
   *     summary: List orders, newest arrival first
   *     tags: [orders]
   *     parameters:
   *       - { $ref: '#/components/parameters/Limit' }
   *       - { $ref: '#/components/parameters/Cursor' }
   *     responses:
   *       200:
   *         description: A page of orders; `next` is null on the last one.
   *         content:
   *           application/json:
   *             schema:
   *               type: object
   *               properties:
   *                 items: { type: array, items: { $ref: '#/components/schemas/Order' } }
   *                 next: { type: string, nullable: true }
   *       400: { $ref: '#/components/responses/Problem' }
   *       503: { $ref: '#/components/responses/Problem' }
   */
  router.get('/v1/orders', async (request, response) => {
    const page: Page<Order> = await store.page(readPageOptions(request))
    response.json(page)
  })

  /**
   * @openapi
   * /v1/orders/{id}:
   *   get:
   *     summary: Get an order
   *     tags: [orders]
   *     parameters: [{ $ref: '#/components/parameters/OrderId' }]
   *     responses:
   *       200: { $ref: '#/components/responses/Order' }
   *       400: { $ref: '#/components/responses/Problem' }
   *       404: { $ref: '#/components/responses/Problem' }
   *       503: { $ref: '#/components/responses/Problem' }
   */
  router.get('/v1/orders/:id', async (request, response) => {
    const id = readGuid('id', request.params.id)
    const order = orderOf(await store.find(id))
    if (!order) throw notFound('Order', `There is no order ${id}. One just created may take a moment.`)
    response.json(order)
  })

  /**
   * @openapi
   * /v1/orders/{id}/cancel:
   *   post:
   *     summary: Cancel an order; a paid one is refunded
   *     tags: [orders]
   *     parameters: [{ $ref: '#/components/parameters/OrderId' }]
   *     responses:
   *       200: { $ref: '#/components/responses/Order' }
   *       202: { $ref: '#/components/responses/Order' }
   *       400: { $ref: '#/components/responses/Problem' }
   *       403: { $ref: '#/components/responses/Problem' }
   *       404: { $ref: '#/components/responses/Problem' }
   *       409: { $ref: '#/components/responses/Problem' }
   *       503: { $ref: '#/components/responses/Problem' }
   */
  router.post('/v1/orders/:id/cancel', async (request, response) => {
    const id = readGuid('id', request.params.id)
    const cancelled = await commands.cancel(id, { traceparent: request.get('traceparent') })
    sendPlaced(response, cancelled, 200)
  })

  return router
}

/** 202 when the event is in the log and the store has yet to catch up. */
function sendPlaced(response: Response, { order, stored }: Placed, status: number): void {
  response.status(stored ? status : 202).json(order)
}
