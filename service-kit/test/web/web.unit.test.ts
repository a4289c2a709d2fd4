import { type IncomingHttpHeaders, request as send } from 'node:http'
import { expect } from 'chai'
import { type RequestHandler, Router } from 'express'
import { OverloadError } from '../../src/sidecar/batcher.ts'
import { capturedLog } from '../../src/testing/captured-log.ts'
import { withServer } from '../../src/testing/serve-app.ts'
import { bodyReader } from '../../src/web/request.ts'
import { createWeb } from '../../src/web/web.ts'

/**
 * @openapi
 * /v1/orders:
 *   get: { responses: { 200: { description: List } } }
 *   post: { responses: { 201: { description: Made } } }
 * /v1/orders/{id}:
 *   get: { responses: { 200: { description: One } } }
 * /v1/orders/{id}/cancel:
 *   post: { responses: { 200: { description: Cancelled } } }
 */
const readPayment = bodyReader<{ orderId: string; amount: number }>({
  orderId: ['PaymentApproved', 'OrderId'],
  amount: ['PaymentApproved', 'Amount'],
})

interface Sent {
  method?: string
  headers?: Record<string, string>
  body?: string
}

describe('the public listener', () => {
  const { log, records } = capturedLog()
  const fail: RequestHandler = () => {
    throw Object.assign(new Error('mongodb://user:pw@host'), { body: 'GB-123456789' })
  }
  const routes = Router()
    .get('/v1/orders', (_request, response) => response.json([]))
    .post('/v1/orders', (request, response) => response.status(201).json(readPayment(request.body)))
    .post('/v1/orders/:id/cancel', (_request, response) => response.json({}))
    .get('/fails', fail)
    .get('/overloaded', () => {
      throw new OverloadError('10000 are waiting already')
    })
    .get('/fails-late', (_request, response) => {
      response.write('{"half":')
      throw new Error('too late for a problem')
    })
  const app = createWeb({
    title: 'test',
    description: 'test',
    apiFiles: [import.meta.filename],
    routes,
    isReady: async () => true,
    log,
  })
  beforeEach(() => records.splice(0))

  /** With node:http, since fetch does not let a caller set Host and Sec-Fetch-Site. */
  function call(path: string, { method = 'GET', headers = {}, body }: Sent = {}) {
    return withServer(app, (url) => {
      const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replace('OWN', url)]))
      return new Promise<{ status: number; headers: IncomingHttpHeaders; text: string; json: Record<string, unknown> }>(
        (resolve, reject) => {
          const sent = send(url + path, { method, headers: own }, (response) => {
            let text = ''
            response.setEncoding('utf8').on('data', (part) => {
              text += part
            })
            response.on('error', reject).on('end', () => {
              const { statusCode: status = 0, headers } = response
              resolve({ status, headers, text, json: text.startsWith('{') ? JSON.parse(text) : {} })
            })
          })
          sent.on('error', reject).end(body)
        },
      )
    })
  }
  const post = (body: string, path = '/v1/orders') =>
    call(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body })

  describe('reading a body', () => {
    for (const body of ['null', '"x"', '1', '[]', '"{}"']) {
      it(`tells that ${body} is no object, not that it is no JSON`, async () => {
        const { status, json } = await post(body)
        expect([status, json.type]).to.deep.equal([400, 'urn:orderflow:problem:invalid-request'])
        expect(json.detail).to.match(/^the body must be an object, not /)
      })
    }

    it('lower-cases the fields that are GUIDs by the contract', async () => {
      const orderId = '5F0C1D7A-2B3C-4D5E-8F90-A1B2C3D4E5F6'
      const { status, json } = await post(JSON.stringify({ orderId, amount: 1 }))
      expect([status, json]).to.deep.equal([201, { orderId: orderId.toLowerCase(), amount: 1 }])
    })

    it('keeps fields that it does not know from the route', async () => {
      const { json } = await post('{"orderId":"5f0c1d7a-2b3c-4d5e-8f90-a1b2c3d4e5f6","amount":1,"other":2}')
      expect(json).to.have.all.keys('orderId', 'amount')
    })
  })

  describe('where no route answers', () => {
    const paths = ['/v1/orders', '/v1/orders/', '/V1/ORDERS']
    for (const path of paths) {
      it(`tells the methods of ${path}, which GET finds there`, async () => {
        expect((await call(path)).status).to.equal(200)
        const { status, headers } = await call(path, { method: 'DELETE' })
        expect([status, headers.allow]).to.deep.equal([405, 'GET, POST'])
      })
    }

    it('answers 404 where there is no operation', async () => {
      for (const path of ['/v1/orders//', '/v1/orders/1/2', '/v1']) {
        expect((await call(path, { method: 'DELETE' })).status, path).to.equal(404)
      }
    })
  })

  describe('when a route throws what nobody expected', () => {
    it('answers 500 without internals and logs them', async () => {
      const { status, text } = await call('/fails')
      expect(status).to.equal(500)
      expect(text).not.to.match(/mongodb|at |\.ts|GB-/)
      expect(records.map(({ level, path }) => [level, path])).to.deep.equal([['error', '/fails']])
      expect(JSON.stringify(records)).not.to.contain('GB-')
    })

    it('breaks the connection once an answer has begun, so that half of one is not taken for a whole, and logs it', async () => {
      const failure = await call('/fails-late').then(
        () => undefined,
        (error: NodeJS.ErrnoException) => error.code,
      )
      expect(failure).to.equal('ECONNRESET')
      expect(records.map(({ level, path }) => [level, path])).to.deep.equal([['error', '/fails-late']])
    })
  })

  it('answers 503 when too many wait, and says when to come again', async () => {
    const { status, headers, text, json } = await call('/overloaded')
    expect([status, json.type, headers['retry-after']]).to.deep.equal([503, 'urn:orderflow:problem:unavailable', '1'])
    expect(headers['content-type']).to.match(/^application\/problem\+json/)
    expect(text).not.to.match(/10000|at |\.ts/)
  })

  describe('a POST from a browser', () => {
    const cancel = (headers: Record<string, string>) => call('/v1/orders/1/cancel', { method: 'POST', headers })
    const own: Record<string, Record<string, string>> = {
      'of a program, without an Origin': {},
      'of its own page': { origin: 'OWN', 'sec-fetch-site': 'same-origin' },
      'of its own page behind a proxy that ends TLS': { origin: 'https://shop.example', host: 'shop.example' },
      'of its own page, with its host in capitals': { origin: 'https://shop.example', host: 'Shop.Example' },
    }
    for (const [what, headers] of Object.entries(own)) {
      it(`passes when it is ${what}`, async () => {
        expect((await cancel(headers)).status).to.equal(200)
      })
    }
    const foreign: Record<string, Record<string, string>> = {
      'of another site': { origin: 'https://evil.example' },
      'of another port of this host': { origin: 'http://127.0.0.1:1' },
      'of a page without an origin': { origin: 'null' },
      'of an origin that ends like the host': { origin: 'https://evil.shop.example', host: 'shop.example' },
      'cross-site, whatever its Origin': { 'sec-fetch-site': 'cross-site' },
    }
    for (const [what, headers] of Object.entries(foreign)) {
      it(`is refused when it is ${what}`, async () => {
        const { status, json } = await cancel(headers)
        expect([status, json.type]).to.deep.equal([403, 'urn:orderflow:problem:foreign-origin'])
        expect(json.detail).to.match(/Origin/)
      })
    }

    it('is not in the way of reading', async () => {
      const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
      expect((await call('/v1/orders', { headers })).status).to.equal(200)
    })
  })
})
