import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { application, ofServices } from '@orderflow/stack'
import { CliError } from '@orderflow/stack/base'
import { expect } from 'chai'
import { nextStep, publish, readEventFile } from '../../src/commands/publish/publish.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

describe('readEventFile', () => {
  const envelope = { Name: 'OrderCreated', Payload: { OrderId: '0b6f' } }
  const read = (content: string, key?: string) => {
    const file = join(temporaryFolder(), 'event.json')
    writeFileSync(file, content)
    return readEventFile(file, key)
  }
  afterEach(removeFolders)

  it('returns the bytes of an envelope with its OrderId as the key', () => {
    const content = JSON.stringify(envelope, null, 4)
    expect(read(content)).to.deep.equal({ topic: 'orderevents', key: '0b6f', value: Buffer.from(content) })
  })

  it('returns the document of a fixture that contains it as bytes, text or JSON', () => {
    const bytes = Buffer.from([0xff, 0x7b])
    const fixtures: [object, Buffer][] = [
      [{ description: 'x', variant: 'full', envelope }, Buffer.from(JSON.stringify(envelope))],
      [{ description: 'x', check: 'full', input: envelope }, Buffer.from(JSON.stringify(envelope))],
      [
        { description: 'x', check: 'full', inputText: '{"Name": "PaymentApproved" }' },
        Buffer.from('{"Name": "PaymentApproved" }'),
      ],
      [{ description: 'x', envelope, inputBase64: bytes.toString('base64') }, bytes],
    ]
    for (const [fixture, value] of fixtures) expect(read(JSON.stringify(fixture)).value).to.deep.equal(value)
    expect(fixtures.map(([fixture]) => read(JSON.stringify(fixture)).topic)).to.deep.equal([
      'orderevents',
      'orderevents',
      'paymentevents',
      'orderevents',
    ])
  })

  it('selects the topic by the name of the event', () => {
    expect(read('{"Name":"PaymentApproved"}').topic).to.equal('paymentevents')
    expect(read('{"Name":"OrderCancelled"}').topic).to.equal('orderevents')
  })

  it('uses the given key instead of the key in the event', () => {
    expect(read(JSON.stringify(envelope), 'other').key).to.equal('other')
  })

  it('returns invalid JSON unchanged, with the topic orderevents and without a key', () => {
    expect(read('no { json')).to.deep.equal({ topic: 'orderevents', key: undefined, value: Buffer.from('no { json') })
  })

  it('refuses an event that only services publish, and names its topic', async () => {
    const file = join(temporaryFolder(), 'event.json')
    const id = crypto.randomUUID()
    const Payload = { PaymentId: id, OrderId: id, Amount: 1, Policy: 'amount-limit@1', Source: 'Manual' }
    const CreationDate = '2026-11-21T10:00:00Z'
    const event = { AppId: id, AppName: 'older', Version: 1, Name: 'PaymentApproved', CreationDate, Payload }
    writeFileSync(file, JSON.stringify(event))
    const error = await publish({ args: [file], text: () => undefined, flag: () => undefined }).catch(
      (error: unknown) => error,
    )
    expect(error)
      .to.be.instanceOf(CliError)
      .with.property(
        'message',
        'PaymentApproved is an event of paymentevents that outside applications may not publish (docs/trust.md)',
      )
  })

  it('throws an error that names an unreadable file', () => {
    expect(() => readEventFile('/no/such/file.json', undefined)).to.throw('cannot read /no/such/file.json')
  })
})

describe('the next step after an event was published', () => {
  const [Id, OrderId] = [crypto.randomUUID(), crypto.randomUUID()]
  const addresses = {
    services: ofServices(({ name, http, https }) => ({
      url: `http://${name}:${http}`,
      httpsUrl: `https://${name}:${https}`,
    })),
    kafka: { bootstrapBrokers: [] },
  }
  const at = { partition: 2, offset: 7n }
  const recordOf = (envelope: object, key: string = OrderId) => ({
    topic: 'orderevents',
    key,
    value: Buffer.from(JSON.stringify(envelope)),
  })
  const next = (envelope: object, { key = OrderId as string, demo = application.demo } = {}) =>
    nextStep(recordOf(envelope, key), at, addresses, demo)
  const order = { Id, Name: 'OrderCreated', Payload: { OrderId } }

  it('prints the URLs of the demo if the topic’s key field is the demo’s id, even if the key of the record has another value', () => {
    for (const key of [OrderId, 'another'])
      expect(next(order, { key })).to.equal(
        `next: curl http://order-service:5000/v1/orders/${OrderId} and curl 'http://payment-service:5003/v1/payments?orderId=${OrderId}'`,
      )
  })

  it('prints the URL of the event’s page if the topic’s key differs from the demo’s id, or services.json lacks a demo', () => {
    const page = `next: http://event-monitor:5010/id/${Id}`
    const { demo } = application
    if (!demo) throw new Error('services.json has no demo')
    expect(next(order, { demo: { ...demo, thing: 'booking' } })).to.equal(page)
    expect(nextStep(recordOf(order), at, addresses, undefined)).to.equal(page)
    expect(next({ ...order, Payload: {} })).to.equal(page)
    expect(next({ ...order, Name: 'Rumour' })).to.equal(page)
  })

  it('prints the page of the record if the event has no Id', () => {
    expect(next({ Name: 'Rumour', Payload: {} })).to.equal('next: http://event-monitor:5010/e/orderevents/2/7')
  })
})
