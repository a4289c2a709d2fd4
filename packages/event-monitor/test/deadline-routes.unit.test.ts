import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { HttpProblem } from '@orderflow/service-kit'
import { expect } from 'chai'
import type { ConversationDeadlines, Deadlines } from '../src/api/deadlines.ts'
import { createLedger, type Ledger } from '../src/jobs/ledger.ts'
import type { Monitor } from '../src/monitor.ts'
import { deadlineRoutes } from '../src/routes/deadlines.ts'
import { full, indexRecord, orderCreated, type TestIndex, testIndex } from './support/records.ts'

const [OrderId, correlation] = [randomUUID(), randomUUID()]
const due = '2026-01-01T00:30:00.000Z'
const waiting = { entity: 'order', id: OrderId, deadline: 'PaymentDue', due, isFired: false }
const list = {
  ...{ now: '2026-01-01T00:00:00.000Z', hold: null, unhandled: 0, isWhole: true, checked: 2 },
  counts: [{ entity: 'order', deadline: 'PaymentDue', overdue: 0, nextHour: 2, nextDay: 0, later: 0 }],
  items: [
    { ...waiting, delayedBy: null },
    { ...waiting, id: 'Ada Lovelace', delayedBy: 'retry' },
  ],
}
const passed = full(
  'DeadlinePassed',
  { Entity: 'order', EntityId: OrderId, Deadline: 'PaymentDue', Due: due },
  { CorrelationId: correlation, AppName: 'order-service' },
)
const deadLetter = {
  'deadletter-app': 'order-service',
  'deadletter-reason': 'handler-error',
  'deadletter-topic': 'deadlines',
  'deadletter-partition': '0',
  'deadletter-offset': '0',
}

describe('the deadlines of the monitor', () => {
  let index: TestIndex
  let server: Server
  let folder: string
  let ledger: Ledger
  let requests: { method: string; url: string; authorization: string | undefined; body: unknown }[]
  let answer: (request: IncomingMessage) => { status?: number; body: object } | Promise<never>
  beforeEach(async () => {
    index = testIndex()
    folder = mkdtempSync(join(tmpdir(), 'monitor-deadlines-'))
    ledger = createLedger(folder)
    requests = []
    answer = ({ url = '' }) => ({ body: url.includes(OrderId) ? { items: [waiting] } : list })
    server = createServer(async (request, response) => {
      const { method = '', url = '', headers } = request
      const body = JSON.parse((await text(request)) || 'null')
      requests.push({ method, url, authorization: headers.authorization, body })
      const { status = 200, body: answered } = await answer(request)
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answered))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterEach(() => {
    index.close()
    ledger.close()
    rmSync(folder, { recursive: true })
    server.close()
    server.closeAllConnections()
  })

  const orders = { orderevents: ['OrderCreated'], deadlines: ['DeadlinePassed'] }

  async function send<T>(
    path: string,
    { body, id, authorization }: { body?: object; id?: string; authorization?: string } = {},
  ) {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const monitor = {
      index: {
        ask: async (method: 'event', ...args: Parameters<TestIndex['reads']['event']>) => index.reads[method](...args),
        completeness: () => ({}),
      },
      services: [
        { name: 'order-service', publishes: orders, url },
        { name: 'payment-service', publishes: { paymentevents: ['PaymentApproved'] }, url: 'http://127.0.0.1:1' },
      ],
      ledger,
      now: () => new Date(0),
    } as unknown as Monitor
    const wanted = deadlineRoutes(monitor).find(({ operation }) => operation.path === path)
    let sent: unknown
    const caller = { id: 'key:1', key: 'ada', scopes: new Set(), tenant: { id: '', userId: '' } }
    const response = {
      locals: authorization ? { caller } : {},
      status: () => response,
      json(answered: unknown) {
        sent = answered
      },
    }
    const request = { query: {}, params: { correlationId: id }, body, headers: { authorization } }
    await wanted?.handle(request as never, response as never)
    return sent as T
  }
  const refusal = async (sending: Promise<unknown>) => {
    const error = await sending.catch((thrown: unknown) => thrown)
    if (error instanceof HttpProblem) return error
    throw error
  }

  it('lists the deadlines of each service that has some, with the key of the operator', async () => {
    const { services } = await send<Deadlines>('/v1/deadlines', { authorization: 'Bearer ofk_1' })
    expect(requests).to.deep.equal([
      { method: 'GET', url: '/v1/deadlines?limit=100', authorization: 'Bearer ofk_1', body: null },
    ])
    expect(services).to.deep.equal([
      {
        ...list,
        service: 'order-service',
        problem: null,
        items: [
          { ...list.items[0], service: 'order-service' },
          { ...list.items[1], service: 'order-service', id: '*** (12 characters)' },
        ],
      },
    ])
  })

  it('works without a key', async () => {
    await send<Deadlines>('/v1/deadlines')
    expect(requests[0]?.authorization).to.equal(undefined)
  })

  it('reports a service that does not answer, or refuses the key', async () => {
    const problem = async () => (await send<Deadlines>('/v1/deadlines')).services[0]?.problem
    answer = () => ({
      status: 403,
      body: { title: 'Refused', detail: 'The operation needs the scope deadlines:read.' },
    })
    expect(await problem()).to.equal('it answers 403: The operation needs the scope deadlines:read.')
    answer = () => {
      server.closeAllConnections()
      return new Promise<never>(() => {})
    }
    expect(await problem()).to.equal('it does not answer')
  })

  it('lists deadlines whose decision failed, with their dead letters', async () => {
    index.add(
      indexRecord(passed, { topic: 'deadlines', at: Date.UTC(2026, 0, 1, 1) }),
      indexRecord(passed, { topic: 'deadlines.dead', headers: deadLetter }),
      indexRecord(orderCreated(), { offset: 0 }),
      indexRecord(orderCreated(), {
        topic: 'orderevents.dead',
        headers: { ...deadLetter, 'deadletter-topic': 'orderevents' },
      }),
    )
    const { undecided, undecidedTotal } = await send<Deadlines>('/v1/deadlines')
    const [, entry] = index.reads.deadLetterPage(undefined, 'open', 10).items
    expect(undecidedTotal).to.equal(1)
    expect(undecided).to.deep.equal([
      {
        ...{ entry: entry?.id, position: { topic: 'deadlines', partition: 0, offset: '0' } },
        ...{ at: '2026-01-01T01:00:00.000Z', service: 'order-service', reason: 'handler-error' },
        ...{ entity: 'order', deadline: 'PaymentDue', correlationId: correlation },
      },
    ])
  })

  it('asks the owner of the entities in a conversation', async () => {
    const payload = orderCreated({}, { OrderId }).Payload as Record<string, unknown>
    index.add(
      indexRecord(full('OrderCreated', payload, { CorrelationId: correlation })),
      indexRecord(full('OrderCreated', orderCreated().Payload as Record<string, unknown>), { offset: 1 }),
      indexRecord(
        full('PaymentApproved', { PaymentId: randomUUID(), OrderId: randomUUID() }, { CorrelationId: correlation }),
        {
          topic: 'paymentevents',
        },
      ),
    )
    const path = '/v1/conversations/{correlationId}/deadlines'
    const ask = () => send<ConversationDeadlines>(path, { id: correlation, authorization: 'Bearer ofk_1' })
    expect(await ask()).to.deep.equal({ items: [{ ...waiting, service: 'order-service' }], problems: [] })
    expect(requests).to.deep.equal([
      { method: 'GET', url: `/v1/deadlines/${OrderId}`, authorization: 'Bearer ofk_1', body: null },
    ])
    answer = () => ({ status: 404, body: { title: 'Entity not found' } })
    expect(await ask()).to.deep.equal({ items: [], problems: [] })
    answer = () => ({ status: 503, body: { title: 'Not available right now' } })
    const problem = 'it answers 503: Not available right now'
    expect(await ask()).to.deep.equal({ items: [], problems: [{ service: 'order-service', problem }] })
  })

  it('refuses a conversation that is not in the index, also if its id is in another one', async () => {
    const payload = orderCreated({}, { OrderId }).Payload as Record<string, unknown>
    index.add(indexRecord(full('OrderCreated', payload, { CorrelationId: correlation })))
    for (const id of [randomUUID(), OrderId]) {
      const asked = send('/v1/conversations/{correlationId}/deadlines', { id })
      expect(await asked.catch((error: unknown) => error)).to.include({ code: 'not-kept' })
    }
    expect(requests).to.deep.equal([])
  })

  describe('firing one', () => {
    const { isFired: _, ...rest } = waiting
    const chosen = { service: 'order-service', ...rest }
    const fire = (body: object = chosen) => send('/v1/deadlines/fire', { body, authorization: 'Bearer ofk_1' })

    it('asks the service, after an entry in the audit log', async () => {
      let audited = 0
      answer = () => {
        audited = ledger.audit(10).length
        return { status: 202, body: { items: [] } }
      }
      expect(await fire()).to.deep.equal({ isFired: true })
      const body = { entity: 'order', deadline: 'PaymentDue', due }
      expect(requests).to.deep.equal([
        { method: 'POST', url: `/v1/deadlines/${OrderId}/fire`, authorization: 'Bearer ofk_1', body },
      ])
      expect(audited).to.equal(1)
      expect(ledger.audit(10)).to.deep.equal([
        {
          ...{ at: '1970-01-01T00:00:00.000Z', by: 'ada', what: 'DeadlineFired', deadline: chosen },
          ...{ position: null, reason: null, as: null, edited: null },
        },
      ])
    })

    it('returns the refusal of the service', async () => {
      const type = 'urn:orderflow:problem:deadline-fired'
      answer = () => ({ status: 409, body: { type, title: 'The deadline cannot pass now', detail: 'It has passed.' } })
      const { status, code, title, options } = await refusal(fire())
      expect([status, code, title]).to.deep.equal([409, 'deadline-fired', 'The deadline cannot pass now'])
      expect(options.detail).to.equal('order-service refuses: it answers 409: It has passed.')
    })

    it('returns 503 if the service does not accept the key or fails, so that the operator stays signed in', async () => {
      for (const status of [401, 500, 503]) {
        answer = () => ({ status, body: { title: 'No' } })
        expect(await refusal(fire())).to.include({ status: 503 })
      }
    })

    it('refuses an unknown service, a missing field and a masked id', async () => {
      const pointers = async (body: object) => (await refusal(fire(body))).options.errors?.map(({ pointer }) => pointer)
      expect(await pointers({ ...chosen, service: 'payment-service' })).to.deep.equal(['/service'])
      expect(await pointers({ ...chosen, due: undefined })).to.deep.equal(['/due'])
      expect(await pointers({ ...chosen, id: '*** (12 characters)' })).to.deep.equal(['/id'])
      expect(requests).to.deep.equal([])
      expect(ledger.audit(10)).to.deep.equal([])
    })
  })
})
