import { expect } from 'chai'
import { createEnvelope, parseFullEnvelope } from '../src/index.ts'
import { app, bytesOf, errorOf, orderCreated, orderId } from './support/documents.ts'

const creationDate = new Date('2026-03-14T09:26:53.589Z')
const event = { app, type: 'OrderCreated@1', payload: orderCreated, creationDate } as const
const v4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe('createEnvelope', () => {
  it('writes the fields in a fixed order', () => {
    const ids = { traceId: orderId, correlationId: app.id, id: orderId }
    expect(JSON.stringify(createEnvelope({ ...ids, headers: { a: 1 }, ...event }))).to.equal(
      JSON.stringify({
        Headers: { a: 1 },
        Id: orderId,
        CorrelationId: app.id,
        TraceId: orderId,
        AppId: app.id,
        AppName: app.name,
        Version: 1,
        Name: 'OrderCreated',
        CreationDate: '2026-03-14T09:26:53.589Z',
        Payload: orderCreated,
      }),
    )
  })

  it('omits Headers if none are given', () => {
    expect(createEnvelope(event)).not.to.have.property('Headers')
  })

  it('writes the tenant last, and omits its empty fields', () => {
    const own = (tenant: { id: string; userId: string }) =>
      Object.entries(createEnvelope({ ...event, tenant })).slice(8)
    const payload = ['Payload', orderCreated]
    expect(own({ id: 'acme', userId: 'ada' })).to.deep.equal([payload, ['TenantID', 'acme'], ['TenantUserID', 'ada']])
    expect(own({ id: 'acme', userId: '' })).to.deep.equal([payload, ['TenantID', 'acme']])
    expect(own({ id: '', userId: '' })).to.deep.equal([payload])
  })

  it('creates a new Id and TraceId, and uses the TraceId as CorrelationId', () => {
    const [first, second] = [createEnvelope(event), createEnvelope(event)]
    expect(first.Id).to.match(v4)
    expect(first.TraceId).to.match(v4)
    expect(first.CorrelationId).to.equal(first.TraceId)
    expect(new Set([first.Id, first.TraceId, second.Id, second.TraceId])).to.have.lengthOf(4)
  })

  it('uses a given TraceId also as CorrelationId', () => {
    expect(createEnvelope({ ...event, traceId: orderId }).CorrelationId).to.equal(orderId)
  })

  it('converts GUIDs to lower case, as receivers do', () => {
    const payload = { ...orderCreated, OrderId: orderId.toUpperCase() }
    const made = createEnvelope({ ...event, payload, id: orderId.toUpperCase() })
    expect([made.Id, made.Payload.OrderId]).to.deep.equal([orderId, orderId])
    expect(payload.OrderId).to.equal(orderId.toUpperCase())
  })

  it('creates envelopes that the strict check accepts', () => {
    const made = createEnvelope(event)
    expect(parseFullEnvelope(bytesOf(made))).to.deep.equal(made)
  })

  it('rejects an invalid event and lists every problem of its envelope and payload', () => {
    const wrong = { ...event, app: { id: 'me', name: '' }, payload: { ...orderCreated, Total: Number.NaN } }
    const error = errorOf(() => createEnvelope({ ...wrong, creationDate: new Date('yesterday') }))
    const pointers = error.problems.map(({ pointer }) => pointer)
    expect(pointers).to.have.members(['/AppId', '/AppName', '/CreationDate', '/Payload/Total'])
  })

  it('rejects a payload with inherited fields, which JSON would leave out', () => {
    const error = errorOf(() => createEnvelope({ ...event, payload: Object.create(orderCreated) }))
    expect(error.problems).to.have.lengthOf(4)
  })

  it('rejects a year with more than four digits', () => {
    const error = errorOf(() => createEnvelope({ ...event, creationDate: new Date(8.64e15) }))
    expect(error.problems.map(({ pointer }) => pointer)).to.deep.equal(['/CreationDate'])
  })

  it('rejects texts that no receiver accepts', () => {
    const payload = { ...orderCreated, CustomerName: 'Ada\ud800' }
    const error = errorOf(() => createEnvelope({ ...event, payload, headers: { 'a\0': 1 } }))
    expect(error.problems.map(({ pointer }) => pointer)).to.have.members(['/Headers', '/Payload/CustomerName'])
  })

  it('rejects a trace id of zeros, which no traceparent may contain', () => {
    const error = errorOf(() => createEnvelope({ ...event, traceId: '00000000-0000-0000-0000-000000000000' }))
    expect(error.problems.map(({ pointer, message }) => `${pointer} ${message}`)).to.have.members([
      '/TraceId must not be all zeros',
      '/CorrelationId must not be all zeros',
    ])
  })

  it('rejects names and versions without a schema, as the compiler does', () => {
    // @ts-expect-error an unknown event
    expect(errorOf(() => createEnvelope({ ...event, type: 'ParcelSent@1' })).code).to.equal('unknown-event')
    // @ts-expect-error an unknown version
    expect(errorOf(() => createEnvelope({ ...event, type: 'OrderCreated@99' })).code).to.equal('unknown-version')
    // @ts-expect-error an invalid version, and an unknown name
    expect(errorOf(() => createEnvelope({ ...event, type: 'ParcelSent' })).code).to.equal('not-an-envelope')
    // @ts-expect-error another event's payload
    expect(errorOf(() => createEnvelope({ ...event, type: 'PaymentApproved@1' })).code).to.equal('invalid-payload')
  })
})
