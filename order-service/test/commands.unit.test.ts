import { randomUUID } from 'node:crypto'
import { createEnvelope, currencyOf, type Envelope, noTenant, type Tenant } from '@orderflow/envelope-schema'
import { expect } from 'chai'
import { createCommands } from '../src/commands.ts'
import type { OrderCreated } from '../src/domain/order.ts'
import { orderRoutes } from '../src/routes/orders.ts'

describe('the documentation of GET /v1/orders/{id}', () => {
  it('contains the id of the order that the example of POST /v1/orders creates, for any AppId', async () => {
    const app = { id: randomUUID(), name: 'order-service' }
    const store = { saveFact: async () => true, claim: async (holder: OrderCreated) => ({ holder, isStored: false }) }
    const context = { app, publish: async () => {}, now: () => new Date(), newId: randomUUID, log: undefined as never }
    const commands = createCommands({ ...store, find: undefined as never }, context)
    const routes = orderRoutes(commands, undefined as never, currencyOf('EUR'), app.id)
    const parameters = routes.flatMap(({ operation }) => operation.inputs.flatMap(({ parameters = [] }) => parameters))
    const exampleOf = (wanted: string) => parameters.find(({ name }) => name === wanted)?.example
    const order = { customerName: 'Ada', customerTaxId: 'T', total: 1 }
    const placed = await commands.place(order, { tenant: noTenant, idempotencyKey: exampleOf('Idempotency-Key') })
    expect(exampleOf('id')).to.equal(placed.order.id)
  })
})

describe('cancel', () => {
  const OrderId = randomUUID()
  const app = { id: randomUUID(), name: 'order-service' }

  async function cancelled(owner: Tenant, caller: Tenant): Promise<Envelope | undefined> {
    const OrderCreated = createEnvelope({
      app,
      type: 'OrderCreated',
      creationDate: new Date(),
      tenant: owner,
      payload: { OrderId, CustomerName: 'Ada', CustomerTaxId: 'T', Total: 1 },
    })
    const published: Envelope[] = []
    const store = { find: async () => ({ OrderCreated }), saveFact: async () => true, claim: undefined as never }
    const commands = createCommands(store, {
      app,
      publish: async (_topic, event) => void published.push(event),
      now: () => new Date(),
      newId: randomUUID,
      log: undefined as never,
    })
    await commands.cancel(OrderId, { tenant: caller })
    return published[0]
  }

  for (const id of ['', 'acme']) {
    it(`publishes an event that names the caller as its user, not the order's owner, for tenant '${id}'`, async () => {
      const event = await cancelled({ id, userId: 'ada' }, { id, userId: 'bob' })
      expect([event?.Name, event?.TenantID ?? '', event?.TenantUserID]).to.deep.equal(['OrderCancelled', id, 'bob'])
    })
  }

  it('publishes an event without a user if the caller is unknown', async () => {
    const event = await cancelled({ id: '', userId: 'ada' }, noTenant)
    expect(event).to.include({ Name: 'OrderCancelled' }).and.not.to.have.any.keys('TenantID', 'TenantUserID')
  })

  it('publishes an event with the order’s tenant if tenants share their documents', async () => {
    const event = await cancelled({ id: 'acme', userId: 'ada' }, noTenant)
    expect(event).to.include({ TenantID: 'acme' }).and.not.to.have.property('TenantUserID')
  })
})
