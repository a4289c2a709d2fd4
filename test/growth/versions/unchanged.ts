import { randomUUID } from 'node:crypto'
import { service } from '@orderflow/order-service/service'
import { createApp, readSettings } from '@orderflow/service-kit'
import { capturedLog, FakeSidecar, post, send, withServer } from '@orderflow/service-kit/testing'
import { expect } from 'chai'

// This test runs in a copy of the repository with version 2 of OrderCreated (release.ts), which order-service does not name yet.

interface Stored {
  state: { OrderCreated: { Version: number; Payload: object } }
  unannounced?: { mark: string }[]
}

const customer = { customerName: 'Ada', customerTaxId: 'T', total: 42.5 }

describe('order-service with a contract that has a newer version', () => {
  let sidecar: FakeSidecar
  beforeEach(() => {
    sidecar = new FakeSidecar()
  })
  const withOrders = <T>(use: (url: string) => Promise<T>) => {
    const settings = readSettings(service, { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' })
    const { log } = capturedLog()
    const { web } = createApp(service, { settings, log, sidecar, now: () => new Date(), newId: randomUUID })
    return withServer(web, use)
  }

  it('publishes the older version, also for a retry, and stores the newest', async () => {
    const headers = { 'idempotency-key': 'key' }
    const { status, body } = await withOrders((url) => post<{ id: string }>(`${url}/v1/orders`, customer, headers))
    expect(status).to.equal(201)
    const [event] = sidecar.published.map(({ value }) => JSON.parse(Buffer.from(value).toString()))
    expect(event.Version).to.equal(1)
    const stored = sidecar.documents.get(`order/${body.id}`)?.value as Stored
    expect(stored.state.OrderCreated.Version).to.equal(2)
    // The process does not know whether an event of another process is announced.
    for (const each of stored.unannounced ?? []) each.mark = '0:1:other'
    await withOrders((url) => post(`${url}/v1/orders`, customer, headers))
    expect(sidecar.published.map(({ value }) => JSON.parse(Buffer.from(value).toString()))).to.deep.equal([
      event,
      event,
    ])
  })

  it('keeps the fields of the API', async () => {
    const { status } = await withOrders((url) => post(`${url}/v1/orders`, { ...customer, note: 'x' }))
    expect(status).to.equal(400)
    type Schemas = { components: { schemas: Record<string, { properties: object }> } }
    const { body } = await withOrders((url) => send<Schemas>(`${url}/openapi.json`))
    for (const name of ['NewOrder', 'Order'])
      expect(body.components.schemas[name]?.properties).not.to.have.property('note')
  })

  it('leaves a newer field out of its answers', async () => {
    const { body } = await withOrders((url) => post<{ id: string }>(`${url}/v1/orders`, customer))
    const stored = sidecar.documents.get(`order/${body.id}`)?.value as Stored
    Object.assign(stored.state.OrderCreated.Payload, { Note: 'Leave it at the door.' })
    const order = await withOrders((url) => send<object>(`${url}/v1/orders/${body.id}`))
    expect(order.body).to.include({ customerName: 'Ada' }).and.not.to.have.property('note')
  })
})
