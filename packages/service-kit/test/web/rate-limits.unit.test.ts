import type { RequestListener } from 'node:http'
import { expect } from 'chai'
import type { Caller } from '../../src/auth/caller.ts'
import type { WebOptions } from '../../src/web/web.ts'
import { call } from './support/call.ts'
import { thingsApp } from './support/things.ts'

describe('rate limits', () => {
  const none = { AddressPerMinute: 0, CallerPerMinute: 0, TenantPerMinute: 0 }
  const appWith = (limits: Partial<typeof none>, options: Partial<WebOptions> = {}) =>
    thingsApp(undefined, undefined, { limits: { ...none, ...limits }, ...options }).app
  const things = '/v1/things'

  /** Returns an app that treats every request as a request of the authenticated caller `id`. */
  function as(app: RequestListener, id: string, tenant?: string): RequestListener {
    const caller: Caller = { id, scopes: new Set(['things:read']), tenant: { id: tenant ?? '', userId: '' } }
    return (request, response) => {
      app(request, Object.assign(response, { locals: { caller } }))
    }
  }

  it('reports the state of the quota on each answer', async () => {
    // This quota grows by one request every ten seconds. The test takes less time, so it sees no growth.
    const app = appWith({ AddressPerMinute: 6 })
    for (const left of [5, 4]) {
      const { status, headers } = await call(app, things)
      expect([status, headers['ratelimit-policy']]).to.deep.equal([200, '"address";q=6;w=60'])
      expect(headers.ratelimit).to.match(new RegExp(`^"address";r=${left};t=\\d+$`))
    }
  })

  it('refuses excessive requests with a problem that names the time to wait', async () => {
    const app = appWith({ AddressPerMinute: 1 })
    await call(app, things)
    const { status, headers, json } = await call(app, things, { method: 'POST' })
    expect([status, json.type]).to.deep.equal([429, 'urn:orderflow:problem:too-many-requests'])
    const seconds = headers['retry-after']
    expect(Number(seconds)).to.be.within(1, 60)
    expect(headers.ratelimit).to.match(/^"address";r=0;t=\d+$/)
    expect(json.detail).to.equal(
      `Each address may send 1 requests a minute. The request had no effect; try again in ${seconds} s.`,
    )
  })

  it('adds no headers to answers for unlimited senders', async () => {
    const app = thingsApp().app
    expect((await call(app, things)).headers).not.to.include.any.keys('ratelimit', 'ratelimit-policy')
  })

  it('limits requests for pages, documents and unknown paths, but not health checks', async () => {
    for (const path of ['/docs/', '/docs/swagger-ui.css', '/openapi.json', '/', '/none', '/v1/things/%zz']) {
      const app = appWith({ AddressPerMinute: 1 })
      expect((await call(app, path)).status, path).not.to.equal(429)
      expect((await call(app, path)).status, path).to.equal(429)
      for (const health of ['/livez', '/readyz']) expect((await call(app, health)).status).to.equal(200)
    }
  })

  describe('the limit of an address', () => {
    const from = (app: RequestListener, forwarded: string) =>
      call(app, things, { headers: { 'x-forwarded-for': forwarded } }).then(({ status }) => status)

    it('ignores an address in X-Forwarded-For if no proxy is configured', async () => {
      const app = appWith({ AddressPerMinute: 1 })
      expect(await from(app, '192.0.2.1')).to.equal(200)
      expect(await from(app, '192.0.2.2')).to.equal(429)
    })

    it('uses the address that a configured proxy reports, but not an address that a client claims', async () => {
      const app = appWith({ AddressPerMinute: 1 }, { proxies: 1 })
      expect(await from(app, '192.0.2.1')).to.equal(200)
      expect(await from(app, '192.0.2.2')).to.equal(200)
      expect(await from(app, '198.51.100.7, 192.0.2.1')).to.equal(429)
      const behindTwo = appWith({ AddressPerMinute: 1 }, { proxies: 2 })
      expect(await from(behindTwo, '192.0.2.1, 203.0.113.1')).to.equal(200)
      expect(await from(behindTwo, '192.0.2.1, 203.0.113.2')).to.equal(429)
      expect(await from(behindTwo, '192.0.2.2, 203.0.113.2')).to.equal(200)
    })

    it('treats all IPv6 addresses of a customer’s network as one address', async () => {
      const app = appWith({ AddressPerMinute: 1 }, { proxies: 1 })
      expect(await from(app, '2001:db8:1:2::1')).to.equal(200)
      expect(await from(app, '2001:db8:1:2:ffff::1')).to.equal(429)
      expect(await from(app, '2001:db8:1:3::1')).to.equal(200)
    })
  })

  it('limits callers and tenants separately, and reports both quotas', async () => {
    const app = appWith({ AddressPerMinute: 100, CallerPerMinute: 2, TenantPerMinute: 3 })
    const statusOf = (id: string, tenant?: string) => call(as(app, id, tenant), things).then(({ status }) => status)
    const { headers } = await call(as(app, 'key:a', 'shop'), things)
    expect(headers['ratelimit-policy']).to.equal('"address";q=100;w=60, "caller";q=2;w=60, "tenant";q=3;w=60')
    expect(headers.ratelimit).to.match(/^"address";r=99;t=1, "caller";r=1;t=30, "tenant";r=2;t=20$/)
    expect(await statusOf('key:a', 'shop')).to.equal(200)
    expect(await statusOf('key:a', 'shop'), 'the caller’s are used up').to.equal(429)
    expect(await statusOf('key:b', 'shop')).to.equal(200)
    expect(await statusOf('key:b', 'shop'), 'the tenant’s are used up').to.equal(429)
    expect(await statusOf('key:c', 'another')).to.equal(200)
    for (const _ of [1, 2]) expect(await statusOf('key:d')).to.equal(200)
    expect(await statusOf('key:d'), 'a caller without a tenant').to.equal(429)
  })

  it('applies the limits of callers and tenants only to authenticated callers', async () => {
    const app = appWith({ CallerPerMinute: 1, TenantPerMinute: 1 })
    for (const _ of [1, 2, 3]) expect((await call(app, things)).status).to.equal(200)
  })
})
