import { type RequestListener, request } from 'node:http'
import { expect } from 'chai'
import { withServer } from '../../src/testing/http.ts'
import { call } from './support/call.ts'
import { thingId, thingsApp, webWith } from './support/things.ts'

const prefix = '/things-api'
const headers = { 'x-forwarded-prefix': prefix }
const thing = JSON.stringify({ orderId: thingId, amount: 42.5 })

/** Starts a reverse proxy that serves an app below the prefix, as nginx does with `proxy_pass`. */
async function behindProxy<T>(
  app: RequestListener,
  { isStripped, sent }: { isStripped: boolean; sent: Record<string, string> },
  use: (url: string) => Promise<T>,
): Promise<T> {
  return withServer(app, async (target) => {
    const { hostname, port } = new URL(target)
    const proxy: RequestListener = (incoming, outgoing) => {
      const { method, url = '', headers } = incoming
      if (!url.startsWith(prefix)) return outgoing.writeHead(404).end('not of this service')
      const path = isStripped ? url.slice(prefix.length) : url
      const forwarded = request({ hostname, port, method, path, headers: { ...headers, ...sent } }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 0, answer.headers)
        answer.pipe(outgoing)
      })
      incoming.pipe(forwarded)
    }
    return withServer(proxy, use)
  })
}

for (const isStripped of [true, false]) {
  describe(`a service behind a proxy that ${isStripped ? 'strips' : 'keeps'} a path prefix and sends X-Forwarded-Prefix`, () => {
    const { app, records } = thingsApp(undefined, undefined, { proxies: 1 })
    const through = <T>(use: (url: string) => Promise<T>) => behindProxy(app, { isStripped, sent: headers }, use)

    it('returns a Location header with the path prefix', () =>
      through(async (url) => {
        const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: thing }
        const made = await fetch(`${url}${prefix}/v1/things`, init)
        const location = made.headers.get('location')
        expect(location).to.equal(`${prefix}/v1/things/${thingId}`)
        expect((await fetch(new URL(location ?? '', made.url))).status).to.equal(200)
      }))

    it('names the caller’s path and the page of operations in problem details', () =>
      through(async (url) => {
        const problem = (await (await fetch(`${url}${prefix}/v1/things/x`)).json()) as Record<string, string>
        expect(problem.instance).to.equal(`${prefix}/v1/things/***`)
        const unknown = (await (await fetch(`${url}${prefix}/v1`)).json()) as Record<string, string>
        expect(unknown.detail).to.contain(`listed at ${prefix}/docs`)
      }))

    for (const path of ['/', '/docs', '/DOCS?a=b']) {
      it(`redirects ${path} to the page of operations`, () =>
        through(async (url) => {
          const page = await fetch(url + prefix + path)
          expect([page.status, page.headers.get('content-type')]).to.deep.equal([200, 'text/html; charset=utf-8'])
          expect(new URL(page.url).pathname.toLowerCase()).to.equal(`${prefix}/docs/`)
        }))
    }

    it('logs the path of the operation without the path prefix', async () => {
      const failing = thingsApp(() => Promise.reject(new Error('broken')), undefined, { proxies: 1 })
      await behindProxy(failing.app, { isStripped, sent: headers }, (url) =>
        fetch(`${url}${prefix}/v1/things/${thingId}`),
      )
      expect(failing.records[0]).to.include({ path: `/v1/things/${thingId}` })
      expect(records).to.deep.equal([])
    })
  })
}

describe('a service behind a proxy that strips a path prefix and sends no X-Forwarded-Prefix', () => {
  const { app } = thingsApp()
  const through = <T>(use: (url: string) => Promise<T>) => behindProxy(app, { isStripped: true, sent: {} }, use)

  for (const path of ['/', '/docs', '/docs/']) {
    it(`redirects ${path} to the page of operations, and serves the files of that page`, () =>
      through(async (url) => {
        const page = await fetch(url + prefix + path)
        const html = await page.text()
        expect([page.url, page.status]).to.deep.equal([`${url}${prefix}/docs/`, 200])
        const files = [...html.matchAll(/(?:href|src)=["']([^"'#]+)["']/g)].map(([, file = '']) => file)
        expect(files).not.to.deep.equal([])
        for (const file of files) expect((await fetch(new URL(file, page.url))).status, file).to.equal(200)
      }))
  }

  it('serves a page that finds the OpenAPI document and the API below the path prefix', () =>
    through(async (url) => {
      const script = await (await fetch(`${url}${prefix}/docs/swagger-ui-init.js`)).text()
      const [, file = ''] = /"swaggerUrl": "([^"]+)"/.exec(script) ?? []
      const document = await fetch(new URL(file, `${url}${prefix}/docs/`))
      expect(document.url).to.equal(`${url}${prefix}/openapi.json`)
      const { servers } = (await document.json()) as { servers: { url: string }[] }
      expect(servers.map((server) => new URL(server.url, document.url).href)).to.deep.equal([`${url}${prefix}/`])
    }))
})

describe('X-Forwarded-Prefix', () => {
  const instance = async (proxies: number, value: string, path = '/v1/things/x') => {
    const { app } = thingsApp(undefined, undefined, { proxies })
    return (await call(app, path, { headers: { 'x-forwarded-prefix': value } })).json.instance
  }

  it('the header is ignored if no proxy is configured', async () => {
    expect(await instance(0, prefix)).to.equal('/v1/things/***')
    expect(await instance(0, 'nonsense')).to.equal('/v1/things/***')
  })

  it('the service uses only the prefixes that the configured number of proxies added to the header', async () => {
    expect(await instance(1, '/forged, /a')).to.equal('/a/v1/things/***')
    expect(await instance(2, '/forged, /a,/b/c/')).to.equal('/a/b/c/v1/things/***')
    expect(await instance(2, '/a, /')).to.equal('/a/v1/things/***')
    expect(await instance(1, '')).to.equal('/v1/things/***')
  })

  it('the prefix is removed only from paths that begin with the complete prefix', async () => {
    expect(await instance(1, '/a', '/a/v1/things/x')).to.equal('/a/v1/things/***')
    expect(await instance(1, '/v', '/v1/things/x')).to.equal('/v/v1/things/***')
    expect(
      (await call(webWith({ proxies: 1 }), '/a?b=c', { headers: { 'x-forwarded-prefix': '/a' } })).headers.location,
    ).to.equal('/a/docs/')
  })

  for (const value of ['a', '//evil.example', '/a//b', 'https://evil.example/', '/a"b', '/a b', '/../a']) {
    it(`the service refuses the header’s value ${JSON.stringify(value)}`, async () => {
      const { status, json } = await call(webWith({ proxies: 1 }), '/docs/', {
        headers: { 'x-forwarded-prefix': value },
      })
      expect([status, json.type]).to.deep.equal([400, 'urn:orderflow:problem:bad-prefix'])
      expect(json.detail).to.contain('such as /shop-api')
    })
  }

  it('the service ignores the header in health probes', async () => {
    expect((await call(webWith({ proxies: 1 }), '/livez', { headers: { 'x-forwarded-prefix': 'a' } })).status).to.equal(
      200,
    )
  })
})
