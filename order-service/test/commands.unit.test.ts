import { randomUUID } from 'node:crypto'
import {
  createEnvelope,
  deterministicId,
  type Envelope,
  examplePayload,
  type FullEvent,
  noTenant,
  type Tenant,
} from '@orderflow/envelope-schema'
import { createDocuments, currencyOf, openEntity } from '@orderflow/service-kit'
import { capturedLog, FakeSidecar } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import { order } from '../src/order.ts'
import { orderRoutes } from '../src/routes.ts'

const currency = currencyOf('EUR')
const input = { customerName: 'Ada', customerTaxId: 'T', total: 1 }

/** Opens orders in an empty store, and returns them with the events that they publish. */
function openOrders(isShared = false) {
  const app = { id: randomUUID(), name: 'order-service' }
  const published: Envelope[] = []
  const now = () => new Date()
  const documents = createDocuments(new FakeSidecar(), now, isShared)
  const orders = openEntity(order(currency, 1_800_000), {
    app,
    documents,
    publish: async (_topic, event) => void published.push(event),
    now,
    newId: randomUUID,
    log: capturedLog().log,
  })
  return { app, orders, published }
}

const outside = <N extends 'OrderCreated' | 'OrderCancelled' | 'PaymentApproved'>(type: N, OrderId: string) =>
  createEnvelope({
    ...{ app: { id: randomUUID(), name: 'older-application' }, type, creationDate: new Date() },
    payload: { ...examplePayload(type), OrderId },
  })

async function deliver({ reactions }: ReturnType<typeof openOrders>['orders'], event: Envelope): Promise<void> {
  const handlers = Object.assign({}, ...Object.values(reactions)) as Record<
    string,
    (event: Envelope) => Promise<boolean>
  >
  await handlers[event.Name]?.(event)
}

describe('the documentation of GET /v1/orders/{id}', () => {
  it('contains the id of the order that the example of POST /v1/orders creates, for any AppId', async () => {
    const { orders } = openOrders()
    const routes = orderRoutes(orders, currency)
    const parameters = routes.flatMap(({ operation }) => operation.inputs.flatMap(({ parameters = [] }) => parameters))
    const exampleOf = (wanted: string) => parameters.find(({ name }) => name === wanted)?.example
    const idempotencyKey = exampleOf('Idempotency-Key')
    expect(idempotencyKey).to.be.a('string')
    const placed = await orders.do.place(undefined, input, { tenant: noTenant, idempotencyKey })
    expect(exampleOf('id')).to.equal(placed.id)
  })
})

describe('place', () => {
  for (const id of ['', 'acme']) {
    it(`derives the OrderId from the AppId, the tenant and the key, and the Id from the OrderId, for tenant '${id}'`, async () => {
      const { app, orders, published } = openOrders()
      const tenant = { id, userId: 'ada' }
      const placed = await orders.do.place(undefined, input, { tenant, idempotencyKey: 'key' })
      expect(placed.id).to.equal(deterministicId('order', app.id, ...(id ? [id] : []), 'key'))
      const [event] = published
      expect(event?.Id).to.equal(deterministicId('event', placed.id, 'OrderCreated'))
      expect([event?.AppId, event?.TenantID ?? '', event?.TenantUserID]).to.deep.equal([app.id, id, 'ada'])
      expect(event).not.to.have.property('Headers')
    })
  }

  it('publishes the trace of the request as the conversation and trace of the order', async () => {
    const { orders, published } = openOrders()
    const traceId = randomUUID()
    await orders.do.place(undefined, input, { tenant: noTenant, traceId })
    expect(published[0]).to.include({ TraceId: traceId, CorrelationId: traceId })
  })

  it('creates an order whose cancellation by another application arrived first', async () => {
    const { orders, published } = openOrders()
    const id = orders.idOf({ idempotencyKey: 'key' })
    await deliver(orders, outside('OrderCancelled', id))
    const placed = await orders.do.place(undefined, input, { tenant: noTenant, idempotencyKey: 'key' })
    expect(published.map(({ Name }) => Name)).to.deep.equal(['OrderCreated'])
    expect(placed.view.status).to.equal('Cancelled')
  })
})

describe('cancel', () => {
  async function cancelled(owner: Tenant, caller: Tenant): Promise<{ created: Envelope; event: Envelope | undefined }> {
    const { app, orders, published } = openOrders(owner.id !== caller.id)
    const { OrderCreated } = orders.reactions.orderevents as {
      OrderCreated: (event: FullEvent<'OrderCreated'>) => Promise<boolean>
    }
    const OrderId = randomUUID()
    const created = createEnvelope({
      app,
      type: 'OrderCreated',
      creationDate: new Date(),
      tenant: owner,
      payload: { OrderId, CustomerName: 'Ada', CustomerTaxId: 'T', Total: 1 },
    })
    await OrderCreated(created)
    await orders.do.cancel(OrderId, undefined, { tenant: caller })
    expect(published.map(({ Id }) => Id)).to.deep.equal([deterministicId('event', OrderId, 'OrderCancelled')])
    return { created, event: published[0] }
  }

  for (const id of ['', 'acme']) {
    it(`publishes an event that names the caller as its user, not the order's owner, for tenant '${id}'`, async () => {
      const { event } = await cancelled({ id, userId: 'ada' }, { id, userId: 'bob' })
      expect([event?.Name, event?.TenantID ?? '', event?.TenantUserID]).to.deep.equal(['OrderCancelled', id, 'bob'])
    })
  }

  it('publishes an event without a user if the caller is unknown', async () => {
    const { event } = await cancelled({ id: '', userId: 'ada' }, noTenant)
    expect(event).to.include({ Name: 'OrderCancelled' }).and.not.to.have.any.keys('TenantID', 'TenantUserID')
  })

  it('publishes an event with the order’s tenant if tenants share their documents', async () => {
    const { event } = await cancelled({ id: 'acme', userId: 'ada' }, noTenant)
    expect(event).to.include({ TenantID: 'acme' }).and.not.to.have.property('TenantUserID')
  })

  it('publishes an event in the conversation and trace of the order', async () => {
    const { created, event } = await cancelled(noTenant, noTenant)
    const { CorrelationId, TraceId } = created
    expect(event).to.include({ CorrelationId, TraceId })
  })

  it('repeats a cancellation by another application, with the same content for the same Id', async () => {
    const { orders, published } = openOrders()
    const id = randomUUID()
    const cancelled = outside('OrderCancelled', id)
    for (const event of [outside('OrderCreated', id), outside('PaymentApproved', id), cancelled])
      await deliver(orders, event)
    const cancelBy = (userId: string) => orders.do.cancel(id, undefined, { tenant: { id: '', userId } })
    for (const userId of ['ada', 'grace']) await cancelBy(userId)
    const earlier = { ...outside('OrderCancelled', id), CreationDate: '2026-01-01T00:00:00.000Z' }
    await deliver(orders, earlier)
    await cancelBy('ada')
    const idOf = (other: Envelope) => deterministicId('event', id, 'OrderCancelled', other.Id)
    expect(published.map(({ Id }) => Id)).to.deep.equal([idOf(cancelled), idOf(cancelled), idOf(earlier)])
    expect(JSON.stringify(published[1])).to.equal(JSON.stringify(published[0]))
  })

  it('announces its own earlier cancellation unchanged', async () => {
    const { app, orders, published } = openOrders()
    const id = randomUUID()
    const own = { ...outside('OrderCancelled', id), AppId: app.id, AppName: app.name }
    for (const event of [outside('OrderCreated', id), outside('PaymentApproved', id), own]) await deliver(orders, event)
    await orders.do.cancel(id, undefined, { tenant: { id: '', userId: 'ada' } })
    expect(published).to.deep.equal([own])
  })
})
