import { createEnvelope, deterministicId, orderEvents } from '@orderflow/envelope-schema'
import {
  isInfrastructure,
  type Logger,
  notFound,
  Problem,
  type Publish,
  type Received,
  recordOf,
  SidecarError,
  traceIdFrom,
  unavailable,
} from '@orderflow/service-kit'
import { decideCancel, evolve, isSameOrder, type Order, type OrderEvent, orderOf } from './domain/order.ts'
import type { Claim, OrderStore } from './store.ts'

export interface CommandDependencies {
  app: { id: string; name: string }
  store: OrderStore
  publish: Publish
  now: () => Date
  newId: () => string
  log: Logger
}

export interface PlaceOrder {
  customerName: string
  customerTaxId: string
  total: number
}

/** What comes with a request besides its body: both headers as they were sent. */
export interface RequestContext {
  idempotencyKey: string | undefined
  traceparent: string | undefined
}

/** `stored` is false when the event is in the log and the store has still to catch up. */
export interface Placed {
  order: Order
  stored: boolean
}

export interface Commands {
  /**
   * The log first, the store as its view: publishes OrderCreated, then saves it.
   * @throws {Problem} 422 when the key came with another body before, 503 when the outcome is unknown
   */
  place(input: PlaceOrder, context: RequestContext): Promise<Placed>
  /**
   * Publishes OrderCancelled, unless the order is cancelled already. A paid order is refunded by payment-service.
   * @throws {Problem} 404, 409 when its payment was rejected, 503 when the outcome is unknown
   */
  cancel(orderId: string, context: Pick<RequestContext, 'traceparent'>): Promise<Placed>
}

export function createCommands({ app, store, publish, now, newId, log }: CommandDependencies): Commands {
  /** Publishes and then saves; from the publish on, the log has the event and the subscription repairs the rest. */
  async function commit(event: OrderEvent, retry: string): Promise<boolean> {
    const orderId = event.Payload.OrderId
    await publish(recordOf(orderEvents, orderId, event)).catch((error: unknown) => {
      if (!(error instanceof SidecarError)) throw error
      throw unavailable(`It is not known whether the event reached the log. ${retry}`, { orderId }, error)
    })
    try {
      await store.record(event)
      return true
    } catch (error) {
      if (!isInfrastructure(error)) throw error
      log.warn({ err: error, orderId }, 'the order is in the log and not stored yet')
      return false
    }
  }

  async function reserve(event: Received<'OrderCreated'>): Promise<Claim> {
    const claim = await store.claim(event)
    if (isSameOrder(claim.holder, event)) return claim
    throw new Problem(422, 'idempotency-key-reused', 'The Idempotency-Key stands for another order', {
      detail: `This key was used with another body before. Send a new key, or leave it out.`,
      extra: { orderId: event.Payload.OrderId },
    })
  }

  return {
    async place(input, { idempotencyKey, traceparent }) {
      const orderId = idempotencyKey === undefined ? newId() : deterministicId('order', app.id, idempotencyKey)
      const draft = createEnvelope({
        app,
        name: 'OrderCreated',
        version: 1,
        id: deterministicId('event', orderId, 'OrderCreated'),
        traceId: traceIdFrom(traceparent) ?? newId(),
        creationDate: now(),
        payload: {
          OrderId: orderId,
          CustomerName: input.customerName,
          CustomerTaxId: input.customerTaxId,
          Total: input.total,
        },
      })
      if (idempotencyKey === undefined) {
        const stored = await commit(draft, 'Look for the order in a moment. With an Idempotency-Key a retry is safe.')
        return { order: orderOf({ OrderCreated: draft }) as Order, stored }
      }
      const { holder, isStored } = await reserve(draft)
      if (isStored) return { order: orderOf(await store.find(orderId)) as Order, stored: true }
      const stored = await commit(holder, 'Send the request again with the same Idempotency-Key: it is the same order.')
      return { order: orderOf({ OrderCreated: holder }) as Order, stored }
    },

    async cancel(orderId, { traceparent }) {
      const facts = await store.find(orderId)
      const order = orderOf(facts)
      if (!order) throw notFound('Order', `There is no order ${orderId}.`)
      const decision = decideCancel(facts)
      if (decision === 'already') return { order, stored: true }
      if (decision === 'refused') {
        const detail = 'Its payment was rejected, so there is nothing left to cancel.'
        throw new Problem(409, 'not-cancellable', 'The order cannot be cancelled', { detail })
      }
      const event = createEnvelope({
        app,
        name: 'OrderCancelled',
        version: 1,
        id: deterministicId('event', orderId, 'OrderCancelled'),
        correlationId: order.correlationId,
        traceId: traceIdFrom(traceparent) ?? order.traceId,
        creationDate: now(),
        payload: { OrderId: orderId },
      })
      const stored = await commit(event, 'Send the request again: cancelling twice is cancelling once.')
      return { order: orderOf(evolve(facts, event)) as Order, stored }
    },
  }
}
