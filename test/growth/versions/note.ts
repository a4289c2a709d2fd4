import { randomUUID } from 'node:crypto'
import { deterministicId } from '@orderflow/envelope-schema'
import { service as orderService } from '@orderflow/order-service/service'
import { service as paymentService } from '@orderflow/payment-service/service'
import {
  createApp,
  createConsumers,
  createPublisher,
  readSettings,
  type ServiceDefinition,
} from '@orderflow/service-kit'
import { createMetrics } from '@orderflow/service-kit/operations'
import { capturedLog, FakeSidecar, post, send, withServer } from '@orderflow/service-kit/testing'
import { expect } from 'chai'

// This test runs in a copy of the repository with version 2 of OrderCreated (release.ts). The types of version 2 are unavailable here.

const Note = 'Leave it at the door.'
const customer = { CustomerName: 'Ada', CustomerTaxId: 'T', Total: 42.5 }
const app = { AppId: randomUUID(), AppName: 'older-application' }

function created(Version: number, OrderId: string, payload: object = {}) {
  const ids = { Id: deterministicId('event', OrderId), CorrelationId: OrderId, TraceId: OrderId }
  const CreationDate = '2026-11-21T10:00:00Z'
  return { ...ids, ...app, Version, Name: 'OrderCreated', CreationDate, Payload: { OrderId, ...customer, ...payload } }
}
type Created = ReturnType<typeof created>

const valuesOf = ({ published }: FakeSidecar) => published.map(({ value }) => Buffer.from(value).toString())

describe('an OrderCreated with a Note, which version 2 added', () => {
  const { log, records } = capturedLog()
  const settingsOf = <S extends object>(service: ServiceDefinition<S>) =>
    readSettings(service, { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' })
  let sidecar: FakeSidecar
  beforeEach(() => {
    sidecar = new FakeSidecar()
  })
  const start = <S extends object>(service: ServiceDefinition<S>) =>
    createApp(service, { settings: settingsOf(service), log, sidecar, now: () => new Date(), newId: randomUUID })
  const orders = () => start(orderService)

  const entriesOf = (events: Created[]) =>
    events.map((event, offset) => ({
      entryId: String(offset),
      value: Buffer.from(JSON.stringify(event)),
      metadata: { __partition: '0', __offset: String(offset) },
    }))
  const deliver = ({ channel }: { channel: ReturnType<typeof orders>['channel'] }, ...events: Created[]) => {
    const entries = entriesOf(events).map(({ value, ...entry }) => ({ ...entry, event: value.toString('base64') }))
    return withServer(channel, (url) =>
      post(`${url}/subscriptions/orderevents`, { entries }, { 'dapr-api-token': 'app' }),
    )
  }
  const place = (more: object = {}, headers = {}) =>
    withServer(orders().web, (url) =>
      post<Record<string, unknown> & { id: string; errors: { pointer: string }[] }>(
        `${url}/v1/orders`,
        { customerName: 'Ada', customerTaxId: 'T', total: 42.5, ...more },
        headers,
      ),
    )
  const get = (id: string) => withServer(orders().web, (url) => send<Record<string, unknown>>(`${url}/v1/orders/${id}`))
  const storedIn = (id: string) =>
    (sidecar.documents.get(`order/${id}`)?.value as { state: { OrderCreated: Created } } | undefined)?.state
      .OrderCreated
  const deadLetters = () => sidecar.published.map(({ headers }) => headers['deadletter-reason'])

  it('stores, publishes and shows the note of a request', async () => {
    const { status, body } = await place({ note: Note })
    expect([status, body.note]).to.deep.equal([201, Note])
    const [event] = valuesOf(sidecar).map((value) => JSON.parse(value))
    expect([event.Version, event.Payload.Note]).to.deep.equal([2, Note])
    expect((await get(body.id)).body).to.include({ note: Note, customerName: 'Ada', total: 42.5, status: 'Created' })
  })

  it('allows orders without a note', async () => {
    const { status, body } = await place()
    expect(status).to.equal(201)
    expect((await get(body.id)).body).not.to.have.property('note')
  })

  it('rejects a note that violates the schema', async () => {
    for (const note of [5, '', 'x'.repeat(201)]) {
      const { status, body } = await place({ note })
      expect([status, body.errors.map(({ pointer }) => pointer)]).to.deep.equal([400, ['/note']])
    }
  })

  it('documents the note in OpenAPI, and keeps it out of logs', async () => {
    type Schemas = { components: { schemas: Record<string, { required?: string[]; properties: object }> } }
    const { body } = await withServer(orders().web, (url) => send<Schemas>(`${url}/openapi.json`))
    const { NewOrder, Order } = body.components.schemas
    expect(NewOrder?.properties).to.have.nested.include({ 'note.maxLength': 200, 'note.x-pii': true })
    expect(NewOrder?.required).to.deep.equal(['customerName', 'customerTaxId', 'total'])
    expect(Order?.properties).to.have.property('note')
    log.info({ note: Note, Payload: { Note } })
    expect(JSON.stringify(records)).not.to.contain('door')
  })

  it('reaches reactions in version 2, even if it was published in version 1', async () => {
    const handled: object[] = []
    const { orderevents } = createConsumers(
      { orderevents: { OrderCreated: async (event) => handled.push(event) } },
      {
        ...{ app: 'a', publish: createPublisher(sidecar), refusals: new Set<string>(), log, now: () => new Date() },
        trust: { requireTrusted: () => {}, asksForSignature: () => false },
        appendTimes: async () => new Map(),
        metrics: createMetrics(),
      },
    )
    const [older, newer] = [created(1, randomUUID()), created(2, randomUUID(), { Note })]
    await orderevents?.deliver([entriesOf([older, newer])])
    expect(handled).to.deep.equal([{ ...older, Version: 2 }, newer])
  })

  it('ignores a field named Note in version 1, because the schema of version 1 does not check this field', async () => {
    const event = created(1, randomUUID(), { Note: 5 })
    await deliver(orders(), event)
    expect((await get(event.Payload.OrderId)).body)
      .to.include({ status: 'Created' })
      .and.not.to.have.property('note')
    expect(storedIn(event.Payload.OrderId)?.Version).to.equal(2)
  })

  it('results in a payment in both versions', async () => {
    const events = [created(1, randomUUID()), created(2, randomUUID(), { Note })]
    await deliver(start(paymentService), ...events)
    expect(valuesOf(sidecar).map((value) => JSON.parse(value).Name)).to.deep.equal([
      'PaymentApproved',
      'PaymentApproved',
    ])
  })

  it('shows an order of version 1 in the newest form, and ignores duplicates in any version', async () => {
    const [older, newer] = [created(1, randomUUID()), created(2, randomUUID())]
    newer.Payload.OrderId = older.Payload.OrderId
    newer.Id = older.Id
    Object.assign(newer, { CorrelationId: older.CorrelationId, TraceId: older.TraceId })
    const state = { OrderCreated: older }
    sidecar.writeElsewhere(`order/${older.Payload.OrderId}`, { state, listed: '0:0:0' })
    const [{ body }, stored] = [await get(older.Payload.OrderId), structuredClone(sidecar.documents)]
    expect(body).to.include({ customerName: 'Ada', total: 42.5 })
    const service = orders()
    for (const event of [older, newer, older]) await deliver(service, event)
    expect(sidecar.documents).to.deep.equal(stored)
    expect(sidecar.published).to.deep.equal([])
  })

  it('stores nothing for a duplicate that has an older version', async () => {
    const event = created(2, randomUUID())
    await deliver(orders(), event)
    const stored = structuredClone(sidecar.documents)
    await deliver(orders(), { ...event, Version: 1 })
    expect(sidecar.documents).to.deep.equal(stored)
  })

  it('rejects a note that contradicts the stored order, and the dead letter contains the event unchanged', async () => {
    const id = randomUUID()
    const [first, second] = [created(1, id), created(2, id, { Note })]
    const service = orders()
    await deliver(service, first)
    await deliver(service, second)
    expect(deadLetters()).to.deep.equal(['conflicting-order'])
    await deliver(service, created(1, id, { Total: 1 }))
    expect(valuesOf(sidecar)).to.deep.equal([second, created(1, id, { Total: 1 })].map((each) => JSON.stringify(each)))
  })

  it('announces an order that a request stored in version 1, in version 1', async () => {
    const { App } = settingsOf(orderService)
    const id = deterministicId('order', App.Id, 'key')
    const event = {
      ...created(1, id),
      Id: deterministicId('event', id, 'OrderCreated'),
      AppId: App.Id,
      AppName: App.Name,
    }
    const unannounced = [{ event: 'OrderCreated', mark: '0:1:other' }]
    sidecar.writeElsewhere(`order/${id}`, { state: { OrderCreated: event }, listed: '0:0:0', unannounced })
    const { status, body } = await place({}, { 'idempotency-key': 'key' })
    expect([status, body.id]).to.deep.equal([201, id])
    expect(valuesOf(sidecar).map((value) => JSON.parse(value))).to.deep.equal([event])
    expect((await place({ note: Note }, { 'idempotency-key': 'key' })).status).to.equal(422)
  })

  it('becomes a dead letter if its version has no schema', async () => {
    await deliver(orders(), created(3, randomUUID()))
    expect(deadLetters()).to.deep.equal(['unknown-version'])
    expect(sidecar.published[0]?.headers['deadletter-detail']).to.contain('handled versions of OrderCreated: 1, 2')
  })
})
