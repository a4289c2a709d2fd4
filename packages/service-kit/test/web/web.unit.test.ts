import { expect } from 'chai'
import { createStreams } from '../../src/web/event-stream.ts'
import { call } from './support/call.ts'
import { thing, thingId, thingRoutes, thingsApp, webWith } from './support/things.ts'

describe('createWeb', () => {
  const { app } = thingsApp(undefined, undefined, { hosts: 'shop.example' })

  describe('without a matching operation', () => {
    for (const path of ['/v1/things', '/v1/things/', '/V1/THINGS']) {
      it(`names the methods of ${path} in the header Allow`, async () => {
        expect((await call(app, path)).status).to.equal(200)
        const { status, headers } = await call(app, path, { method: 'DELETE' })
        expect([status, headers.allow]).to.deep.equal([405, 'POST, GET, HEAD, OPTIONS'])
      })
    }

    it('names only methods that the path has', async () => {
      const drop = `/v1/things/${thingId}/drop`
      const { headers } = await call(app, drop, { method: 'PUT' })
      expect(headers.allow).to.equal('POST, OPTIONS')
      for (const method of ['GET', 'HEAD']) expect((await call(app, drop, { method })).status, method).to.equal(405)
    })

    it('answers HEAD like GET, and OPTIONS with the methods of the path', async () => {
      const head = await call(app, '/v1/things', { method: 'HEAD' })
      expect([head.status, head.text]).to.deep.equal([200, ''])
      const options = await call(app, '/v1/things', { method: 'OPTIONS' })
      expect([options.status, options.headers.allow]).to.deep.equal([204, 'POST, GET, HEAD, OPTIONS'])
    })

    it('answers 404 for an unknown path', async () => {
      for (const path of ['/v1/things//', '/v1/things/1/2', '/v1']) {
        expect((await call(app, path, { method: 'DELETE' })).status, path).to.equal(404)
      }
    })
  })

  describe('for a POST from a browser', () => {
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
      it(`accepts a POST ${what}`, async () => {
        expect((await drop(headers)).status).to.equal(200)
      })
    }
    const foreign: Record<string, Record<string, string>> = {
      'of another site': { origin: 'https://evil.example' },
      'of another port of this host': { origin: 'http://127.0.0.1:1' },
      'of a page with the origin null': { origin: 'null' },
      'of a page of the default port, to another port': { origin: 'https://shop.example', host: 'shop.example:80' },
      'of an origin that ends with the host': { origin: 'https://evil.shop.example', host: 'shop.example' },
      'that is cross-site, with any Origin': { 'sec-fetch-site': 'cross-site' },
    }
    for (const [what, headers] of Object.entries(foreign)) {
      it(`refuses a POST ${what}`, async () => {
        const { status, json } = await drop(headers)
        expect([status, json.type]).to.deep.equal([403, 'urn:orderflow:problem:foreign-origin'])
        expect(json.detail).to.match(/Origin/)
      })
    }

    it('accepts GET from pages of other sites', async () => {
      const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
      expect((await call(app, '/v1/things', { headers })).status).to.equal(200)
    })
  })

  it('reports at `/readyz` that the service is ready, or which parts are missing', async () => {
    const missing: { store?: string; stream?: string } = {}
    const web = webWith({ readiness: async () => missing })
    expect((await call(web, '/readyz')).json).to.deep.equal({ status: 'ready' })
    missing.stream = 'consumer group a-service has no members'
    const { status, json } = await call(web, '/readyz')
    expect([status, json]).to.deep.equal([503, { status: 'not ready', missing }])
    expect((await call(web, '/livez')).json).to.deep.equal({ status: 'up' })
  })

  it('ignores the parts that a caller of `/readyz` excludes, and refuses unknown parts', async () => {
    const asked: string[] = []
    const web = webWith({
      async readiness(excluded = new Set()) {
        asked.push([...excluded].join())
        return excluded.has('stream') ? {} : { stream: 'does not answer' }
      },
    })
    const statuses = []
    for (const query of ['', '?exclude=store', '?exclude=stream&exclude=store&exclude=store'])
      statuses.push((await call(web, `/readyz${query}`)).status)
    expect([statuses, asked]).to.deep.equal([
      [503, 503, 200],
      ['', 'store', 'store,stream'],
    ])
    for (const query of ['exclude=kafka', 'exclude=stream&exclude=kafka', 'exclude=', 'exclude=stream,store']) {
      const { status, json } = await call(web, `/readyz?${query}`)
      expect([status, json.type], query).to.deep.equal([400, 'urn:orderflow:problem:invalid-request'])
      expect(json.detail).to.equal('exclude: must be sidecar or store or stream, and may be repeated')
    }
    expect(asked).to.have.length(3)
  })

  it('gives concurrent callers one check for the same excluded parts', async () => {
    const asked: string[] = []
    let end = () => {}
    const ended = new Promise<void>((resolve) => (end = resolve))
    const web = webWith({
      async readiness(excluded = new Set()) {
        asked.push([...excluded].join())
        await ended
        return {}
      },
    })
    const paths = ['/readyz', '/readyz', '/readyz?exclude=store', '/readyz?exclude=store']
    const calls = paths.map((path) => call(web, path))
    while (asked.length < 2) await new Promise((resolve) => setImmediate(resolve))
    await new Promise((resolve) => setTimeout(resolve, 50))
    end()
    for (const { status } of await Promise.all(calls)) expect(status).to.equal(200)
    expect(asked).to.have.members(['', 'store'])
  })

  it('answers 503 at `/livez` with the reason for a restart', async () => {
    const web = webWith({ stalled: () => 'the sidecar has delivered nothing' })
    const { status, json } = await call(web, '/livez')
    expect([status, json]).to.deep.equal([503, { status: 'stalled', reason: 'the sidecar has delivered nothing' }])
  })

  it('names repeatedly delivered records at /readyz, whether the service is ready or not', async () => {
    const missing: { store?: string } = {}
    const redelivered = [{ topic: 'orderevents', partition: 2, offset: '17', deliveries: 11 }]
    const web = webWith({ readiness: async () => missing, redelivered: () => redelivered })
    expect((await call(web, '/readyz')).json).to.deep.equal({ status: 'ready', redelivered })
    missing.store = 'does not answer'
    expect((await call(web, '/readyz')).json).to.deep.equal({ status: 'not ready', missing, redelivered })
  })

  it('returns warnings at /readyz, in spite of which the service is ready', async () => {
    const missing: { store?: string } = {}
    let warnings: string[] = ['topic orderevents keeps events for 30 days']
    const web = webWith({ readiness: async () => missing, warnings: () => warnings })
    expect(await call(web, '/readyz')).to.deep.include({ status: 200, json: { status: 'ready', warnings } })
    missing.store = 'does not answer'
    expect((await call(web, '/readyz')).json).to.deep.equal({ status: 'not ready', missing, warnings })
    warnings = []
    expect((await call(web, '/readyz')).json).to.deep.equal({ status: 'not ready', missing })
  })

  it('passes inputs and the trace id to a handler', async () => {
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

  describe('with an unknown query parameter', () => {
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

    it('refuses the unknown parameter, and names the known parameters', async () => {
      expect(await unknown('/v1/things?next=c')).to.deep.equal(refused('next', ofList))
      expect(await unknown('/v1/things?limit=1&Cursor=c')).to.deep.equal(
        refused('Cursor', ofList.replace(';', ' (did you mean cursor?);')),
      )
      expect(await unknown('/v1/things?limit[]=1')).to.deep.equal(refused('***', ofList))
      expect(await unknown('/v1/things?__proto__=1')).to.deep.equal(refused('__proto__', ofList))
    })

    it('refuses the unknown parameter for an operation without parameters', async () => {
      const none = 'is not a query parameter of this operation; the parameters are: none'
      expect(await unknown(`/v1/things/${thingId}?limit=1`)).to.deep.equal(refused('limit', none))
      expect(await unknown(`/v1/things/${thingId}/drop?force=`, 'POST')).to.deep.equal(refused('force', none))
    })

    it('hides the unknown parameter’s name, because it may be personal data', async () => {
      expect(await unknown('/v1/things?ada@example.com=1')).to.deep.equal(refused('***', ofList))
    })

    it('ignores the unknown parameter for health checks, documents and pages', async () => {
      for (const path of ['/livez?a=1', '/readyz?a=1', '/openapi.json?a=1', '/docs/?a=1'])
        expect((await call(app, path)).status, path).to.equal(200)
    })

    it('refuses the unknown parameter before a stream of messages begins', async () => {
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

  it('throws at the start if an operation names a refusal without a status', () => {
    const [, , , drop] = thingRoutes()
    const begin = () => webWith({ routes: drop ? [drop] : [] })
    expect(begin).to.throw('post /v1/things/{id}/drop has the refusal too-heavy')
  })
})
