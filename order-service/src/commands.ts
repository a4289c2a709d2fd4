import {
  createEnvelope,
  deterministicId,
  type Envelope,
  type FullEvent,
  orderEvents,
  pascalCase,
  type Tenant,
  tenantOf,
  upcast,
} from '@orderflow/envelope-schema'
import { isInfrastructure, type ServiceContext, SidecarError, UncertainError } from '@orderflow/service-kit'
import {
  decideCancel,
  evolve,
  isSameOrder,
  type Order,
  OrderError,
  type OrderEvent,
  orderOf,
  type PlaceOrder,
  placedType,
} from './domain/order.ts'
import type { Claim, OrderStore } from './store.ts'

export interface RequestContext {
  tenant: Tenant
  /** 1 to 255 characters. Without a key, each request creates a new order. */
  idempotencyKey?: string | undefined
  /** The id of the request's trace, a GUID. Default: for a new order, a new trace; for a cancellation, the order's trace. */
  traceId?: string | undefined
}

export interface Placed {
  order: Order
  stored: boolean
}

export interface Commands {
  /**
   * Publishes OrderCreated, then saves it.
   * @throws {OrderError} `idempotency-key-reused`, `conflicting-order`
   * @throws {UncertainError} if it is unknown whether the event reached the log
   */
  place(input: PlaceOrder, context: RequestContext): Promise<Placed>
  /**
   * Publishes OrderCancelled, unless the order is already cancelled. After this event, payment-service refunds a paid order.
   * @throws {OrderError} `not-found`, `not-cancellable`
   * @throws {UncertainError} if it is unknown whether the event reached the log
   */
  cancel(orderId: string, context: Pick<RequestContext, 'tenant' | 'traceId'>): Promise<Placed>
}

/** An event in the version in which it is published. Facts have the newest version. */
type PublishedEvent = Envelope & Pick<OrderEvent, 'Name'>

type Dependencies = Pick<ServiceContext, 'app' | 'publish' | 'now' | 'newId' | 'log'>

/** Returns the id of the order of an Idempotency-Key. Two tenants can use the same key for different orders. */
export const orderIdOf = (appId: string, tenant: string, idempotencyKey: string): string =>
  // biome-ignore lint/plugin/no-spread-arguments: a request has at most one tenant
  deterministicId('order', appId, ...(tenant ? [tenant] : []), idempotencyKey)

export function createCommands(
  store: Pick<OrderStore, 'saveFact' | 'claim' | 'find'>,
  { app, publish, now, newId, log }: Dependencies,
): Commands {
  /** Returns false if the store fails after publishing. In this case, a reaction saves the event when it arrives from the log. */
  async function publishAndSave(event: PublishedEvent, orderId: string, retry: string): Promise<boolean> {
    await publish(orderEvents, event).catch((error: unknown) => {
      if (!(error instanceof SidecarError)) throw error
      throw new UncertainError(`It is not known whether the event reached the log. ${retry}`, {
        details: { orderId },
        cause: error,
      })
    })
    try {
      await store.saveFact(upcast(event))
      return true
    } catch (error) {
      if (!isInfrastructure(error)) throw error
      log.warn({ err: error, orderId }, 'the order is in the log but not stored yet')
      return false
    }
  }

  async function reserve(event: FullEvent<typeof placedType>): Promise<Claim> {
    const claim = await store.claim(event)
    if (isSameOrder(upcast(claim.holder), upcast(event))) return claim
    const message = 'This key was already used with another body. Send a new key, or none.'
    throw new OrderError('idempotency-key-reused', message, { orderId: event.Payload.OrderId })
  }

  function newOrder(orderId: string, input: PlaceOrder, { tenant, traceId = newId() }: RequestContext) {
    return createEnvelope({
      app,
      type: placedType,
      id: deterministicId('event', orderId, 'OrderCreated'),
      traceId,
      tenant,
      creationDate: now(),
      payload: { OrderId: orderId, ...pascalCase(input) },
    })
  }

  return {
    async place(input, context) {
      const { idempotencyKey, tenant } = context
      if (idempotencyKey === undefined) {
        const orderId = newId()
        const event = newOrder(orderId, input, context)
        const retry = 'Look for the order in a moment. Next time, send an Idempotency-Key to make retries safe.'
        const stored = await publishAndSave(event, orderId, retry)
        return { order: orderOf({ OrderCreated: upcast(event) }) as Order, stored }
      }
      const orderId = orderIdOf(app.id, tenant.id, idempotencyKey)
      const { holder, isStored } = await reserve(newOrder(orderId, input, context))
      if (isStored) return { order: orderOf(await store.find(tenant.id, orderId)) as Order, stored: true }
      const retry = 'Send the request again with the same Idempotency-Key: it creates no second order.'
      const stored = await publishAndSave(holder, orderId, retry)
      return { order: orderOf({ OrderCreated: upcast(holder) }) as Order, stored }
    },

    async cancel(orderId, { tenant, traceId }) {
      const facts = await store.find(tenant.id, orderId)
      const order = orderOf(facts)
      if (!order) throw new OrderError('not-found', `There is no order ${orderId}.`)
      const decision = decideCancel(facts)
      if (decision === 'already') return { order, stored: true }
      if (decision === 'refused') {
        throw new OrderError('not-cancellable', 'The order’s payment was rejected, so there is nothing to cancel.')
      }
      const event = createEnvelope({
        app,
        type: 'OrderCancelled',
        id: deterministicId('event', orderId, 'OrderCancelled'),
        correlationId: order.correlationId,
        traceId: traceId ?? order.traceId,
        // If tenants share documents, a caller may have no tenant. The event then has the order's tenant, but the user is always the caller.
        tenant: { id: tenant.id || tenantOf(facts.OrderCreated ?? {}).id, userId: tenant.userId },
        creationDate: now(),
        payload: { OrderId: orderId },
      })
      const stored = await publishAndSave(event, orderId, 'Send the request again: the order is cancelled only once.')
      return { order: orderOf(evolve(facts, event)) as Order, stored }
    },
  }
}
