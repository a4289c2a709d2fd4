import { expect } from 'chai'
import { fixtureOf } from '../../src/model/fixture.ts'
import { indexRecord, orderCreated, type RecordOptions, type TestIndex, testIndex } from '../support/records.ts'

const OrderId = '0d4f1d0e-6d0e-4f3c-8a51-5b1f0a8b7c6d'
const position = { topic: 'orderevents', partition: 0, offset: '17' }
const at = Date.UTC(2026, 0, 1)

const rejection = (app: string, reason: string, headers: Record<string, string> = {}) => ({
  'deadletter-app': app,
  'deadletter-reason': reason,
  'deadletter-detail': 'a sentence',
  'deadletter-topic': 'orderevents',
  'deadletter-partition': '0',
  'deadletter-offset': '17',
  ...headers,
})

describe('fixtureOf', () => {
  let index: TestIndex
  beforeEach(() => {
    index = testIndex()
  })
  afterEach(() => index.close())

  const add = (document: unknown, options: RecordOptions = {}) =>
    index.add(indexRecord(document, { offset: 17, ...options }))
  const addDeadLetter = (offset: number, document: unknown, headers: Record<string, string>, key?: string) =>
    add(document, { topic: 'orderevents.dead', offset, at: at + offset, headers, ...(key !== undefined && { key }) })

  function fixtureAt(where = position) {
    const source = index.reads.rejection(where)
    if (!source) throw new Error('the index has no such record')
    return fixtureOf(source)
  }
  const payloadOf = ({ content }: ReturnType<typeof fixtureOf>) =>
    (content.envelope as { Payload: Record<string, unknown> }).Payload

  it('returns the topic, the key and the event, with example values for masked values', () => {
    const event = orderCreated({}, { OrderId, Total: 12.5 })
    add(event, { key: OrderId })
    const { fileName, app, content } = fixtureAt()
    expect(fileName).to.equal('order-created-orderevents-0-17.json')
    expect(app).to.equal(undefined)
    expect(content).to.deep.equal({
      description: 'OrderCreated of orderevents/0/17',
      topic: 'orderevents',
      key: OrderId,
      envelope: {
        ...event,
        Payload: { ...(event.Payload as object), CustomerName: 'Ada Lovelace', CustomerTaxId: 'GB-123456789' },
      },
    })
  })

  it('names the service that wrote the newest dead letter, and its reason', () => {
    const event = orderCreated({}, { OrderId })
    add(event)
    addDeadLetter(3, event, rejection('order-service', 'handler-error'))
    addDeadLetter(4, event, rejection('payment-service', 'invalid-amount'))
    expect(fixtureAt()).to.include({
      app: 'payment-service',
      fileName: 'order-created-invalid-amount-orderevents-0-17.json',
    })
    expect(fixtureAt().content).to.include({
      description: 'OrderCreated of orderevents/0/17, rejected by payment-service: invalid-amount',
      reason: 'invalid-amount',
    })
  })

  it('returns the original event for a dead letter, with the reason of this dead letter', () => {
    const event = orderCreated({}, { OrderId })
    add(event, { key: OrderId })
    addDeadLetter(3, event, rejection('order-service', 'handler-error'), OrderId)
    addDeadLetter(4, event, rejection('payment-service', 'invalid-amount'), OrderId)
    const { content } = fixtureAt({ topic: 'orderevents.dead', partition: 0, offset: '3' })
    expect(content).to.deep.equal({
      ...fixtureAt().content,
      description: 'OrderCreated of orderevents/0/17, rejected by order-service: handler-error',
      reason: 'handler-error',
    })
  })

  it('uses the dead letter if the index no longer has the event', () => {
    const event = orderCreated({}, { OrderId, CustomerName: 'x'.repeat(201) })
    const problem = { pointer: '/Payload/CustomerName', message: 'must have at most 200 characters' }
    const headers = rejection('payment-service', 'invalid-payload', { 'deadletter-detail': JSON.stringify([problem]) })
    addDeadLetter(3, event, headers, OrderId)
    const fixture = fixtureAt({ topic: 'orderevents.dead', partition: 0, offset: '3' })
    expect(fixture.fileName).to.equal('order-created-invalid-payload-orderevents-0-17.json')
    expect(fixture.content).to.include({ topic: 'orderevents', key: OrderId, reason: 'invalid-payload' })
    expect(payloadOf(fixture).CustomerName).to.have.length.above(200)
  })

  const faults: [what: string, field: string, value: unknown, isSame: (made: unknown) => boolean][] = [
    ['an empty text', 'CustomerName', '', (made) => made === ''],
    ['a blank text', 'CustomerName', '\u00a0', (made) => made === ' '],
    ['a text that is too long', 'CustomerName', 'Ada'.repeat(100), (made) => String(made).length > 200],
    ['a number in place of a text', 'CustomerTaxId', 4711, (made) => typeof made === 'number' && made !== 4711],
    ['a text in place of a number', 'Total', 'Ada', (made) => typeof made === 'string' && made !== 'Ada'],
    ['a misspelt GUID', 'OrderId', 'Ada', (made) => typeof made === 'string' && made !== 'Ada'],
    ['U+0000', 'Note', 'Ada\u0000', (made) => String(made).includes('\u0000') && made !== 'Ada\u0000'],
  ]
  for (const [what, field, value, isSame] of faults) {
    it(`keeps the fault of a masked value: ${what}`, () => {
      add(orderCreated({}, { [field]: value }))
      expect(payloadOf(fixtureAt())[field]).to.satisfy(isSame)
    })
  }

  it('keeps the faults of several masked values', () => {
    add(orderCreated({}, { CustomerName: '', CustomerTaxId: 4711, Total: 'Ada' }))
    const { CustomerName, CustomerTaxId, Total } = payloadOf(fixtureAt())
    expect([CustomerName, typeof CustomerTaxId, typeof Total]).to.deep.equal(['', 'number', 'string'])
  })

  it('derives the key from the example values if the key is masked, and leaves out a binary key', () => {
    add(orderCreated({}, { OrderId }), { key: 'Grace Hopper' })
    expect(fixtureAt().content.key).to.equal(OrderId)
    add({ ...orderCreated(), Payload: {} }, { offset: 18, key: 'Grace Hopper' })
    expect(fixtureAt({ ...position, offset: '18' }).content.key).to.equal('made up')
    const binary = indexRecord(orderCreated(), { offset: 19, key: 'Grace' })
    index.add({ ...binary, body: { ...binary.body, key: '*** (5 bytes)' } })
    expect(fixtureAt({ ...position, offset: '19' }).content).not.to.have.property('key')
  })

  it('leaves out the value if only the original bytes show the fault', () => {
    const deep = `${'['.repeat(100)}${']'.repeat(100)}`
    const nested = JSON.stringify(orderCreated({}, { Note: 'deep' })).replace('"deep"', deep)
    for (const text of ['{"CustomerName": "Ada', nested]) {
      add(text)
      const { content } = fixtureAt()
      expect(content).not.to.have.any.keys('envelope', 'valueBase64')
    }
  })

  it('returns the text null for a tombstone, as the sidecar delivers it', () => {
    add('')
    expect(fixtureAt().content).to.include({ valueBase64: Buffer.from('null').toString('base64') })
  })
})
