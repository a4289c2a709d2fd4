import { randomUUID } from 'node:crypto'
import { createEnvelope, type Envelope, noTenant, type Tenant } from '@orderflow/envelope-schema'
import { expect } from 'chai'
import { createCommands } from '../src/commands.ts'

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
