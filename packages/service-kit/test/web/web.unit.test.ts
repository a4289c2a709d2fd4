import { expect } from 'chai'
import { createStreams } from '../../src/web/event-stream.ts'
import { call } from './support/call.ts'
import { thing, thingId, thingRoutes, thingsApp, webWith } from './support/things.ts'

describe('the public listener', () => {
  const { app } = thingsApp(undefined, undefined, { hosts: 'shop.example' })

  describe('where no operation answers', () => {
    for (const path of ['/v1/things', '/v1/things/', '/V1/THINGS']) {
      it(`tells the methods of ${path}, which GET finds there`, async () => {
        expect((await call(app, path)).status).to.equal(200)
        const { status, headers } = await call(app, path, { method: 'DELETE' })
        expect([status, headers.allow]).to.deep.equal([405, 'POST, GET, HEAD, OPTIONS'])
      })
    }

    it('tells no method that does not work there', async () => {
      const drop = `/v1/things/${thingId}/drop`
      const { headers } = await call(app, drop, { method: 'PUT' })
      expect(headers.allow).to.equal('POST, OPTIONS')
      for (const method of ['GET', 'HEAD']) expect((await call(app, drop, { method })).status, method).to.equal(405)
    })

    it('answers HEAD as GET and OPTIONS with the methods', async () => {
      const head = await call(app, '/v1/things', { method: 'HEAD' })
      expect([head.status, head.text]).to.deep.equal([200, ''])
      const options = await call(app, '/v1/things', { method: 'OPTIONS' })
      expect([options.status, options.headers.allow]).to.deep.equal([204, 'POST, GET, HEAD, OPTIONS'])
    })

    it('answers 404 where there is no operation', async () => {
      for (const path of ['/v1/things//', '/v1/things/1/2', '/v1']) {
        expect((await call(app, path, { method: 'DELETE' })).status, path).to.equal(404)
      }
    })
  })

  describe('a POST from a browser', () => {
    const drop = (headers: Record<string, string>) =>
      call(app, `/v1/things/${thingId}/drop`, { method: 'POST', headers })
    const own: Record<string, Record<string, string>> = {
      'of a program, without an Origin': {},
      'of its own page': { origin: 'OWN', 'sec-fetch-site': 'same-origin' },
      'of its own page behind a proxy that ends TLS': { origin: 'https://shop.example', host: 'shop.example' },
      'of its own page, whose host names the usual port of https': {
        origin: 'https://shop.example',
        host: 'shop.example:443',
      },
      'of its own page, whose host names the usual port of http': {
        origin: 'http://shop.example',
        host: 'shop.example:80',
      },
      'of its own page, with its host in capitals': { origin: 'https://shop.example', host: 'Shop.Example' },
    }
    for (const [what, headers] of Object.entries(own)) {
      it(`passes when it is ${what}`, async () => {
        expect((await drop(headers)).status).to.equal(200)
      })
    }
    const foreign: Record<string, Record<string, string>> = {
      'of another site': { origin: 'https://evil.example' },
      'of another port of this host': { origin: 'http://127.0.0.1:1' },
      'of a page without an origin': { origin: 'null' },
      'of the usual port, to another one': { origin: 'https://shop.example', host: 'shop.example:80' },
      'of an origin that ends like the host': { origin: 'https://evil.shop.example', host: 'shop.example' },
      'cross-site, whatever its Origin': { 'sec-fetch-site': 'cross-site' },
    }
    for (const [what, headers] of Object.entries(foreign)) {
      it(`is refused when it is ${what}`, async () => {
        const { status, json } = await drop(headers)
        expect([status, json.type]).to.deep.equal([403, 'urn:orderflow:problem:foreign-origin'])
        expect(json.detail).to.match(/Origin/)
      })
    }

    it('is not in the way of reading', async () => {
      const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
      expect((await call(app, '/v1/things', { headers })).status).to.equal(200)
    })
  })

  it('is ready, or says in words what is missing', async () => {
    const missing: { store?: string; stream?: string } = {}
    const web = webWith({ readiness: async () => missing })
    expect((await call(web, '/readyz')).json).to.deep.equal({ status: 'ready' })
    missing.stream = 'consumer group a-service has no members'
    const { status, json } = await call(web, '/readyz')
    expect([status, json]).to.deep.equal([503, { status: 'not ready', missing }])
    expect((await call(web, '/healthz')).json).to.deep.equal({ status: 'up' })
  })

  it('names the records that are delivered again and again, ready or not', async () => {
    const missing: { store?: string } = {}
    const redelivered = [{ topic: 'orderevents', partition: 2, offset: '17', deliveries: 11 }]
    const web = webWith({ readiness: async () => missing, redelivered: () => redelivered })
    expect((await call(web, '/readyz')).json).to.deep.equal({ status: 'ready', redelivered })
    missing.store = 'does not answer'
    expect((await call(web, '/readyz')).json).to.deep.equal({ status: 'not ready', missing, redelivered })
  })

  it('hands a handler its inputs as they were read, and what it needs to go on with the trace', async () => {
    expect((await call(app, '/v1/things?limit=7&cursor=c')).json.next).to.equal('7c')
    const upper = thingId.toUpperCase()
    const traced = {
      method: 'POST',
      headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
    }
    const untraced = await call(app, `/v1/things/${upper}/drop`, { method: 'POST' })
    expect(untraced.json.orderId).to.equal(thingId)
    expect(untraced.headers.location).to.match(/^\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    expect((await call(app, `/v1/things/${upper}/drop`, traced)).headers.location).to.equal(
      '/0af76519-16cd-43dd-8448-eb211c80319c',
    )
  })

  describe('a query parameter that the operation does not have', () => {
    const unknown = async (path: string, method = 'GET') => {
      const { status, json } = await call(app, path, { method })
      return [status, json.type, json.errors]
    }
    const refused = (pointer: string, detail: string) => [
      400,
      'urn:orderflow:problem:invalid-request',
      [{ pointer, detail }],
    ]
    const ofList = 'is not a query parameter of this operation; the parameters are: limit, cursor'

    it('is refused, with the names of those that there are', async () => {
      expect(await unknown('/v1/things?next=c')).to.deep.equal(refused('next', ofList))
      expect(await unknown('/v1/things?limit=1&Cursor=c')).to.deep.equal(refused('Cursor', ofList))
      expect(await unknown('/v1/things?limit[]=1')).to.deep.equal(refused('***', ofList))
      expect(await unknown('/v1/things?__proto__=1')).to.deep.equal(refused('__proto__', ofList))
    })

    it('is refused where there are none', async () => {
      const none = 'is not a query parameter of this operation; the parameters are: none'
      expect(await unknown(`/v1/things/${thingId}?limit=1`)).to.deep.equal(refused('limit', none))
      expect(await unknown(`/v1/things/${thingId}/drop?force=`, 'POST')).to.deep.equal(refused('force', none))
    })

    it('is not shown if it may hold personal data', async () => {
      expect(await unknown('/v1/things?ada@example.com=1')).to.deep.equal(refused('***', ofList))
    })

    it('is ignored by health, documents and pages', async () => {
      for (const path of ['/healthz?a=1', '/readyz?a=1', '/openapi.json?a=1', '/docs/?a=1'])
        expect((await call(app, path)).status, path).to.equal(200)
    })

    it('is refused before a stream of messages begins', async () => {
      const streams = createStreams()
      const path = '/v1/things/live'
      const live = streams.route({
        path,
        scope: 'things:read',
        summary: 'Follow things',
        input: {},
        body: thing,
        open: () => () => {},
      })
      const { app } = thingsApp(undefined, [live])
      expect((await call(app, `${path}?from=1`)).status).to.equal(400)
    })
  })

  it('does not begin with a refusal that has no status', () => {
    const [, , , drop] = thingRoutes()
    const begin = () => webWith({ routes: drop ? [drop] : [] })
    expect(begin).to.throw('post /v1/things/{id}/drop may be refused as too-heavy')
  })
})
