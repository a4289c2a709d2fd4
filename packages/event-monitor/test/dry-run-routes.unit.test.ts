import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { completeEnvelope, parseEnvelope } from '@orderflow/envelope'
import { FakeLog } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import type { Monitor } from '../src/monitor.ts'
import { checkRoutes } from '../src/routes/dead-letters.ts'
import { indexRecord, orderCreated, type TestIndex, testIndex, trusting } from './support/records.ts'

const position = { topic: 'orderevents', partition: 0, offset: '0' }
const headers = {
  'deadletter-app': 'payment-service',
  'deadletter-reason': 'invalid-payload',
  'deadletter-topic': 'orderevents',
  'deadletter-partition': '0',
  'deadletter-offset': '0',
}

describe('dry runs of the monitor', () => {
  let index: TestIndex
  let server: Server
  let log: FakeLog
  let tried: { value: string; key?: string; kept?: { value: string; key?: string } } | undefined
  beforeEach(async () => {
    index = testIndex()
    log = new FakeLog()
    tried = undefined
    server = createServer(async (request, response) => {
      tried = (await json(request)) as typeof tried
      response.end(JSON.stringify({ result: 'no-effect', why: 'duplicate', publishes: [], conflicts: [] }))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterEach(() => {
    index.close()
    server.close()
    server.closeAllConnections()
  })

  async function post(path: string, body: object, params = {}, service = 'payment-service'): Promise<void> {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const monitor = {
      index: { ask: async (method: 'rawEntries', ids: string[]) => index.reads[method](ids) },
      log: { read: (work: (reader: FakeLog) => unknown) => work(log) },
      services: [{ name: service, consumes: ['orderevents'], dryRun: { url, token: 'token' } }],
      trust: { ...trusting, vouch: () => undefined },
    } as unknown as Monitor
    const wanted = checkRoutes(monitor).find(({ operation }) => operation.path === path)
    const response = { locals: {}, status: () => response, json() {} }
    await wanted?.handle({ query: {}, params, body } as never, response as never)
  }

  const idsIn = ({ value, key }: { value: string | Buffer; key?: string | Buffer | undefined }) => {
    const [bytes, keyBytes] = [value, key ?? ''].map((one) =>
      typeof one === 'string' ? Buffer.from(one, 'base64') : one,
    )
    const envelope = parseEnvelope(bytes as Buffer)
    const { Id, CorrelationId, TraceId } = completeEnvelope(envelope, { value: bytes as Buffer, key: keyBytes })
    return { Id, CorrelationId, TraceId }
  }

  function failedEvent() {
    const event = orderCreated({}, { Total: '10' })
    const value = Buffer.from(JSON.stringify(event))
    log.append({ topic: 'orderevents', key: 'a-key', value })
    log.append({ topic: 'orderevents.dead', key: 'a-key', value, headers })
    index.add(
      indexRecord(event, { key: 'a-key' }),
      indexRecord(event, { topic: 'orderevents.dead', key: 'a-key', headers }),
    )
    const edited = { text: JSON.stringify({ ...event, Payload: { ...(event.Payload as object), Total: 10 } }) }
    return { edited, original: value, ids: idsIn({ value, key: Buffer.from('a-key') }) }
  }

  it('gives an edited dead letter the key and the ids of its replay', async () => {
    const { edited, ids } = failedEvent()
    const [entry] = index.reads.deadLetterPage(undefined, undefined, 100).items
    await post('/v1/dead-letters/entries/{id}/check', { edited }, { id: entry?.id })
    expect(tried && Buffer.from(tried.key ?? '', 'base64').toString()).to.equal('a-key')
    expect(tried && idsIn(tried)).to.deep.equal(ids)
  })

  it('gives an edited event of the log its key and ids', async () => {
    const { edited, ids } = failedEvent()
    await post('/v1/dry-run', { position, edited })
    expect(tried && idsIn(tried)).to.deep.equal(ids)
  })

  it('names the original event to a service that has not rejected it', async () => {
    const { edited, original } = failedEvent()
    const [entry] = index.reads.deadLetterPage(undefined, undefined, 100).items
    const check = (service: string) =>
      post('/v1/dead-letters/entries/{id}/check', { edited }, { id: entry?.id }, service)
    await check('order-service')
    expect(tried?.kept).to.deep.equal({
      value: original.toString('base64'),
      key: Buffer.from('a-key').toString('base64'),
    })
    await check('payment-service')
    expect(tried).to.have.property('value')
    expect(tried?.kept).to.equal(undefined)
    await post('/v1/dry-run', { position, edited }, {}, 'order-service')
    expect(tried?.kept?.value).to.equal(original.toString('base64'))
  })

  it('names an event that no service has rejected to each service', async () => {
    const event = orderCreated()
    const value = Buffer.from(JSON.stringify(event))
    log.append({ topic: 'orderevents', value })
    index.add(indexRecord(event))
    const edited = { text: JSON.stringify({ ...event, Payload: { ...(event.Payload as object), Total: 10 } }) }
    await post('/v1/dry-run', { position, edited })
    expect(tried?.kept?.value).to.equal(value.toString('base64'))
  })
})
