import { expect } from 'chai'
import fc from 'fast-check'
import {
  binaryMessage,
  cloudEventOf,
  fromCloudEvent,
  parseEvent,
  type ReceivedEnvelope,
  structuredMessage,
  toCloudEvent,
} from '../src/index.ts'
import { anyText } from './support/any-text.ts'
import { app, bytesOf, errorOf, orderId, reduced } from './support/documents.ts'

const origin = { topic: 'orderevents', partition: 0, offset: 7 }
const guid = fc.uuid()
const seen = fc
  .tuple(anyText(20), fc.constantFrom('a', '\u{1f600}'))
  .map((parts) => parts.join('').replaceAll('\0', 'b'))
const extra = fc.dictionary(
  fc.string({ minLength: 1 }).map((name) => `x${name}`),
  fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value))),
  { maxKeys: 3 },
)
/** Generates envelopes, also with empty texts and unknown fields. */
const envelope = fc
  .record(
    { Id: guid, CorrelationId: guid, TraceId: guid, TenantID: anyText(8), TenantUserID: anyText(8), Headers: extra },
    { requiredKeys: [] },
  )
  .chain((optional) =>
    fc.tuple(seen, extra, extra).map(([AppName, payload, others]) => ({
      ...others,
      ...reduced({ AppName, Payload: { ...payload, OrderId: crypto.randomUUID() } }),
      ...optional,
    })),
  ) as unknown as fc.Arbitrary<ReceivedEnvelope>
const complete = () => reduced() as unknown as ReceivedEnvelope

const modes = {
  'binary over Kafka': { write: (event) => binaryMessage(event, 'kafka'), kind: 'kafka' },
  'binary over HTTP': { write: (event) => binaryMessage(event, 'http'), kind: 'http' },
  structured: { write: structuredMessage, kind: 'kafka' },
} satisfies Record<
  string,
  {
    write: (event: ReturnType<typeof toCloudEvent>) => { headers: Record<string, string>; body: string }
    kind: 'kafka' | 'http'
  }
>

describe('toCloudEvent', () => {
  for (const [mode, { write, kind }] of Object.entries(modes)) {
    it(`keeps absent, empty and unknown fields and Headers in ${mode} mode`, () => {
      fc.assert(
        fc.property(envelope, (made) => {
          const { headers, body } = write(toCloudEvent(made, origin))
          expect(fromCloudEvent(cloudEventOf({ headers, body: bytesOf(body) }, kind as 'kafka'))).to.deep.equal(made)
        }),
      )
    })
  }

  it('writes valid attributes without personal data', () => {
    fc.assert(
      fc.property(envelope, (made) => {
        const { data: _, ...attributes } = toCloudEvent({ ...made, TenantUserID: 'SECRET', AppName: 'SECRET' }, origin)
        for (const [name, value] of Object.entries(attributes)) {
          expect(name).to.match(/^[a-z0-9]{1,20}$/)
          expect(value)
            .to.be.a('string')
            .and.match(/^[^\p{Cc}\p{Cs}]+$/u)
            .and.not.contain('SECRET')
        }
      }),
    )
  })

  it('copies fields of the envelope to attributes, and names the schema', () => {
    const { data: _, ...attributes } = toCloudEvent(complete(), origin)
    expect(attributes).to.deep.equal({
      specversion: '1.0',
      id: '660553c6-d431-5967-a712-69afb682128f',
      source: 'urn:uuid:0b5c3d6e-8f1a-4b2c-9d3e-4f5a6b7c8d9e',
      type: 'OrderCreated@1',
      time: '2026-03-14T09:26:53Z',
      datacontenttype: 'application/json',
      dataschema: 'https://orderflow.example/schemas/bundled/OrderCreated.1.received.json',
      correlationid: '15143c07-9a70-5836-b75c-15d3f532a1f7',
    })
    const ids = { Id: orderId, CorrelationId: orderId, TraceId: orderId }
    const schema = (made: object) => toCloudEvent({ ...complete(), ...made }, origin).dataschema
    expect(schema(ids)).to.match(/OrderCreated\.1\.full\.json$/)
    expect(schema({ ...ids, TraceId: undefined })).to.match(/OrderCreated\.1\.received\.json$/)
    expect(toCloudEvent({ ...complete(), Id: orderId })).not.to.have.property('correlationid')
  })

  it('requires an id, or a record to derive it from', () => {
    expect(() => toCloudEvent(complete())).to.throw(TypeError, 'has no Id')
  })

  it('replaces control characters in a Name, because a CloudEvents String must not contain them', () => {
    const event = toCloudEvent({ ...complete(), Name: 'Order\u0007Created' }, origin)
    expect(event.type).to.equal('Order\ufffdCreated@1')
    expect(fromCloudEvent(event).Name).to.equal('Order\u0007Created')
  })
})

describe("fromCloudEvent for another application's CloudEvent", () => {
  const foreign = {
    specversion: '1.0' as const,
    id: '4711',
    source: '/shop/7',
    type: 'OrderCreated@1',
    time: '2026-03-14T09:26:53Z',
    datacontenttype: 'application/json',
    subject: 'an order',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    data: reduced().Payload,
  }

  it('returns a valid event with all attributes, and returns the same event each time', () => {
    const event = parseEvent(bytesOf(fromCloudEvent(foreign)))
    expect(event).to.deep.equal(fromCloudEvent(foreign))
    expect(event).to.include({ Name: 'OrderCreated', Version: 1, TraceId: '0af76519-16cd-43dd-8448-eb211c80319c' })
    expect(event.Headers).to.deep.equal({
      CloudEvent: { id: '4711', source: '/shop/7', type: 'OrderCreated@1', subject: 'an order' },
    })
  })

  it('keeps the schema and all GUIDs, and uses Version 1 if the type has no version', () => {
    const [id, correlationid, dataschema] = [orderId, orderId.toUpperCase(), '/schemas/1']
    const own = { ...foreign, id, source: `URN:UUID:${app.id}`, type: 'Order@2x', correlationid, dataschema }
    expect(fromCloudEvent(own)).to.deep.include({
      Headers: { CloudEvent: { id, source: own.source, type: own.type, dataschema, subject: 'an order' } },
      Id: id,
      CorrelationId: correlationid,
      AppId: app.id,
      AppName: own.source,
      Name: 'Order@2x',
      Version: 1,
    })
    expect(fromCloudEvent({ ...foreign, type: 'OrderCreated@12' })).to.include({ Name: 'OrderCreated', Version: 12 })
  })

  it('derives a different id from each value that is not a GUID', () => {
    const { Id, AppId } = fromCloudEvent(foreign)
    expect([Id, AppId]).to.deep.equal(['094af579-6d0c-5b29-a3f6-5bfc65ca5fb6', '95360d75-8399-5202-8a45-406eb46fd495'])
    expect(fromCloudEvent({ ...foreign, source: '/a/urn:uuid:' }).AppId).not.to.equal(
      fromCloudEvent({ ...foreign, source: '/a/' }).AppId,
    )
    expect(fromCloudEvent({ ...foreign, correlationid: '4711' })).not.to.have.property('CorrelationId')
  })

  it('reads the TraceId only from a complete traceparent', () => {
    const later = foreign.traceparent.replace(/^00/, '01')
    for (const traceparent of [foreign.traceparent, later, `${later}-more`])
      expect(fromCloudEvent({ ...foreign, traceparent }), traceparent).to.have.property('TraceId')
    for (const traceparent of ['', `x${foreign.traceparent}`, `${foreign.traceparent}-1`, undefined])
      expect(fromCloudEvent({ ...foreign, traceparent }), traceparent).not.to.have.property('TraceId')
  })

  it('leaves out null attributes, and the fields of the envelope that they would fill', () => {
    const event = { ...foreign, time: null, subject: null, dataschema: null, correlationid: null, traceparent: null }
    const envelope = fromCloudEvent(event as never)
    expect(envelope).not.to.have.any.keys('CreationDate', 'CorrelationId', 'TraceId')
    expect(envelope.Headers).to.deep.equal({ CloudEvent: { id: '4711', source: '/shop/7', type: 'OrderCreated@1' } })
    expect(fromCloudEvent({ ...foreign, data: null })).to.have.property('Payload', null)
  })

  it('returns an invalid envelope for missing attributes', () => {
    const { data: _, time: __, ...poor } = foreign
    expect(fromCloudEvent(poor)).not.to.have.any.keys('CreationDate', 'Payload')
    const { problems } = errorOf(() => parseEvent(bytesOf(fromCloudEvent(poor))))
    expect(problems.map(({ pointer }) => pointer)).to.have.members(['/CreationDate', '/Payload'])
  })
})
