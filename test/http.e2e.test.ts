import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { RunningStack } from '@orderflow/stack'
import { expect } from 'chai'
import { anOrder, type ProblemBody, send } from './support/api.ts'
import { theStack } from './support/stack.ts'

const json = { 'content-type': 'application/json' }
const unknownId = '00000000-0000-4000-8000-000000000000'

interface BadRequest {
  path: string
  init?: RequestInit
  status: number
  /** What the answer names: pointers of `errors`, in order. */
  pointers?: string[]
  tells: RegExp
}

interface OpenApi {
  paths: Record<string, Record<string, { responses: object }>>
  components: { schemas: { Problem: { properties: object } } }
}

const postOrder = (body: unknown, headers: Record<string, string> = {}): Pick<BadRequest, 'path' | 'init'> => ({
  path: '/v1/orders',
  init: {
    method: 'POST',
    headers: { ...json, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  },
})

const badOrders: Record<string, BadRequest> = {
  'an empty body': {
    ...postOrder(''),
    status: 400,
    pointers: ['/customerName', '/customerTaxId', '/total'],
    tells: /missing/,
  },
  'a body that is not JSON': { ...postOrder('{"total": 1,}'), status: 400, tells: /quotes, commas and brackets/ },
  'a body that is a list': { ...postOrder([]), status: 400, pointers: [''], tells: /object/ },
  'a body that is null': { ...postOrder('null'), status: 400, pointers: [''], tells: /object, not null/ },
  'two wrong fields': {
    ...postOrder({ ...anOrder, customerName: '', total: -1 }),
    status: 400,
    pointers: ['/customerName', '/total'],
    tells: /customerName: must not be empty.*total: must be at least 0/,
  },
  'a total as text': {
    ...postOrder({ ...anOrder, total: '42.5' }),
    status: 400,
    pointers: ['/total'],
    tells: /number/,
  },
  'a total beyond a double': {
    ...postOrder('{"customerName":"a","customerTaxId":"b","total":1e400}'),
    status: 400,
    pointers: ['/total'],
    tells: /total/,
  },
  'a tax id of 65 characters': {
    ...postOrder({ ...anOrder, customerTaxId: 'x'.repeat(65) }),
    status: 400,
    pointers: ['/customerTaxId'],
    tells: /at most 64 characters/,
  },
  'a field name in another case': {
    ...postOrder({ ...anOrder, customerTaxId: undefined, CustomerTaxId: 'x' }),
    status: 400,
    pointers: ['/customerTaxId'],
    tells: /rename CustomerTaxId to customerTaxId/,
  },
  'another content type': {
    ...postOrder('total=1', { 'content-type': 'text/plain' }),
    status: 415,
    tells: /application\/json/,
  },
  'a body above 64 KiB': {
    ...postOrder({ ...anOrder, note: 'x'.repeat(70_000) }),
    status: 413,
    tells: /at most 65536 bytes/,
  },
  'an Idempotency-Key with blanks': {
    ...postOrder(anOrder, { 'idempotency-key': 'a b' }),
    status: 400,
    pointers: ['Idempotency-Key'],
    tells: /visible ASCII/,
  },
  'an Idempotency-Key of 256 characters': {
    ...postOrder(anOrder, { 'idempotency-key': 'k'.repeat(256) }),
    status: 400,
    pointers: ['Idempotency-Key'],
    tells: /255/,
  },
  'an id that is no GUID': { path: '/v1/orders/42', status: 400, pointers: ['id'], tells: /GUID/ },
  'an unknown id': { path: `/v1/orders/${unknownId}`, status: 404, tells: /no order/ },
  'a cancellation of an unknown order': {
    path: `/v1/orders/${unknownId}/cancel`,
    init: { method: 'POST' },
    status: 404,
    tells: /no order/,
  },
  'a page of 101': { path: '/v1/orders?limit=101', status: 400, pointers: ['limit'], tells: /1 to 100/ },
  'a made-up cursor': { path: '/v1/orders?cursor=abc', status: 400, pointers: ['cursor'], tells: /next/ },
  'an unknown route': { path: '/v2/orders', status: 404, tells: /\/docs/ },
  'a method that is not offered': {
    path: '/v1/orders',
    init: { method: 'PUT' },
    status: 405,
    tells: /no PUT \/v1\/orders/,
  },
  'a method that is not offered, with a slash at the end': {
    path: '/v1/orders/',
    init: { method: 'DELETE' },
    status: 405,
    tells: /no DELETE/,
  },
  'a cancellation from a page of another site': {
    path: `/v1/orders/${unknownId}/cancel`,
    init: { method: 'POST', headers: { origin: 'https://evil.example' } },
    status: 403,
    tells: /evil\.example/,
  },
  'a broken escape in the path': { path: '/v1/orders/%zz', status: 400, tells: /hex digits/ },
}

const badPayments: Record<string, BadRequest> = {
  'a missing orderId': {
    path: '/v1/payments',
    init: { method: 'POST', headers: json, body: '{"amount":1}' },
    status: 400,
    pointers: ['/orderId'],
    tells: /missing/,
  },
  'an orderId with a urn: prefix': {
    path: '/v1/payments',
    init: { method: 'POST', headers: json, body: JSON.stringify({ orderId: `urn:uuid:${unknownId}`, amount: 1 }) },
    status: 400,
    pointers: ['/orderId'],
    tells: /GUID/,
  },
  'a filter that is no GUID': { path: '/v1/payments?orderId=1', status: 400, pointers: ['orderId'], tells: /GUID/ },
  'an unknown id': { path: `/v1/payments/${unknownId}`, status: 404, tells: /no payment/ },
}

describe('the services over HTTP', () => {
  let stack: RunningStack
  before(async function () {
    this.timeout(120_000)
    stack = await theStack()
  })

  const refuses = (service: string, cases: Record<string, BadRequest>, url: () => string) => {
    for (const [what, { path, init, status, pointers, tells }] of Object.entries(cases)) {
      it(`${service} answers ${what} with a ${status} problem that says how to mend it`, async () => {
        const answer = await send<ProblemBody>(url() + path, init)
        expect(answer.status).to.equal(status)
        expect(answer.headers.get('content-type')).to.match(/^application\/problem\+json/)
        expect(answer.body).to.include({ status, instance: path })
        expect(answer.body.detail).to.match(tells)
        expect(answer.body.errors?.map(({ pointer }) => pointer)).to.deep.equal(pointers)
      })
    }
  }
  refuses('order-service', badOrders, () => stack.orderUrl)
  refuses('payment-service', badPayments, () => stack.paymentUrl)

  it('document the problems of every operation', async () => {
    for (const url of [stack.orderUrl, stack.paymentUrl]) {
      const { body } = await send<OpenApi>(`${url}/openapi.json`)
      expect(body.components.schemas.Problem.properties).to.include.keys('orderId', 'paymentId')
      for (const [path, operations] of Object.entries(body.paths)) {
        for (const [method, { responses }] of Object.entries(operations)) {
          const expected = method === 'post' ? ['400', '403', '503'] : ['400', '503']
          expect(responses, `${method} ${path}`).to.include.keys(...expected)
        }
      }
    }
  })

  it('serve https with the local certificate, on both', async () => {
    const ca = readFileSync(stack.certificateFile)
    for (const url of [stack.orderHttpsUrl, stack.paymentHttpsUrl]) {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        request(`${url.replace('127.0.0.1', 'localhost')}/healthz`, { ca }, resolve)
          .on('error', reject)
          .end()
      })
      expect(response.statusCode).to.equal(200)
      response.destroy()
    }
  })

  it('keep events off the public port, and off the sidecar port without the token', async () => {
    const event = { method: 'POST', headers: json, body: '{"entries":[]}' }
    const channel = `http://127.0.0.1:${stack.ports.order.channel}`
    expect((await send(`${stack.orderUrl}/subscriptions/orderevents`, event)).status).to.equal(404)
    expect((await fetch(`${channel}/subscriptions/orderevents`, event)).status).to.equal(401)
    const token = { 'dapr-api-token': stack.tokens.order.app }
    const known = await fetch(`${channel}/subscriptions/orderevents`, { ...event, headers: { ...json, ...token } })
    expect([known.status, await known.json()]).to.deep.equal([200, { statuses: [] }])
  })

  it('answer 503, not 404, to the sidecar for a path they do not know, since Dapr takes a 404 for an acknowledgement', async () => {
    const headers = { 'dapr-api-token': stack.tokens.order.app }
    const unknown = await fetch(`http://127.0.0.1:${stack.ports.order.channel}/subscriptions/other`, {
      method: 'POST',
      headers,
    })
    expect(unknown.status).to.equal(503)
  })

  it('let nobody use a sidecar without its token', async () => {
    const url = `http://127.0.0.1:${stack.ports.payment.daprHttp}/v1.0/metadata`
    expect((await fetch(url)).status).to.equal(401)
    expect((await fetch(url, { headers: { 'dapr-api-token': stack.tokens.payment.dapr } })).status).to.equal(200)
  })
})
