import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { withServer } from '../../src/testing/http.ts'
import { call } from './support/call.ts'
import { thingId, thingsApp } from './support/things.ts'

describe('requireKnownHost, without authentication', () => {
  const hosts = 'order-pods, Shop.Example,'
  const { app } = thingsApp(undefined, undefined, { hosts })
  const get = (host: string, headers: Record<string, string> = {}) =>
    call(app, '/v1/things', { headers: { host, ...headers } })

  for (const host of [
    'localhost',
    'localhost:5000',
    'LOCALHOST:32768',
    'localhost.:5000',
    'orders.localhost:5000',
    '127.0.0.1:5000',
    '127.8.8.8',
    '192.168.1.20:5000',
    '[::1]:5000',
    '[::1]',
    '[fe80::1]:80',
    'order-pods:5000',
    'shop.example',
    'SHOP.example:443',
  ]) {
    it(`accepts the host ${host}`, async () => {
      expect((await get(host)).status).to.equal(200)
    })
  }

  for (const host of [
    'evil.example',
    'evil.example:5000',
    'localhost.evil.example',
    'evil-localhost',
    '127.0.0.1.evil.example',
    'localhost@evil.example',
    'evil.example@localhost',
    '[::1].evil.example',
    '0x7f.1',
    '2130706433',
    'localhost:5000:5000',
    'shop.example.evil.example',
  ]) {
    it(`refuses the host ${host}, and explains how to allow a host name`, async () => {
      const { status, json } = await get(host, { origin: `http://${host}` })
      expect([status, json.type]).to.deep.equal([421, 'urn:orderflow:problem:unknown-host'])
      expect(json.detail).to.contain('Web__Hosts')
    })
  }

  it('refuses an unknown host name for every operation, page and document', async () => {
    const headers = { host: 'evil.example:5000', origin: 'http://evil.example:5000' }
    for (const path of ['/', '/docs/', '/openapi.json', '/v1/things', `/v1/things/${thingId}`, '/nowhere'])
      expect((await call(app, path, { headers })).status, path).to.equal(421)
    const posted = await call(app, `/v1/things/${thingId}/drop`, { method: 'POST', headers })
    expect(posted.status).to.equal(421)
    const file = { bytes: Buffer.from('page'), br: Buffer.alloc(0), type: 'text/html', etag: '"1"', immutable: false }
    const { app: withFiles } = thingsApp(undefined, undefined, {
      hosts,
      page: { policy: "default-src 'none'", read: (path) => (path === '/' ? { status: 200, file } : undefined) },
      files: [{ path: '/schema.json', type: 'application/json', content: '{}' }],
    })
    for (const path of ['/', '/schema.json']) {
      expect((await call(withFiles, path, { headers: { host: 'localhost' } })).status, path).to.equal(200)
      expect((await call(withFiles, path, { headers })).status, path).to.equal(421)
    }
  })

  it('accepts health probes with every host name, because the platform chooses this name', async () => {
    for (const path of ['/livez', '/readyz'])
      expect((await call(app, path, { headers: { host: 'pod-7.example' } })).status, path).to.equal(200)
  })

  it('ignores the headers X-Forwarded-Host and Forwarded', async () => {
    const forwarded = { 'x-forwarded-host': 'localhost', forwarded: 'host=localhost' }
    expect((await get('evil.example', forwarded)).status).to.equal(421)
    expect((await get('localhost', { 'x-forwarded-host': 'evil.example' })).status).to.equal(200)
  })

  /** Sends a request that HTTP clients would not send. Returns the status. */
  const raw = (lines: string[]) =>
    withServer(app, async (url) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      await once(socket, 'connect')
      socket.end(`${[...lines, 'Connection: close', '', ''].join('\r\n')}`)
      return Number(/^HTTP\/1\.1 (\d{3})/.exec(await text(socket))?.[1])
    })

  it('refuses an unknown host in a second Host header, and in a request line with a complete URL', async () => {
    expect(await raw(['GET /v1/things HTTP/1.1', 'Host: localhost'])).to.equal(200)
    expect(await raw(['GET /v1/things HTTP/1.0'])).to.equal(200)
    for (const other of [
      ['GET /v1/things HTTP/1.1', 'Host: localhost', 'Host: evil.example'],
      ['GET /v1/things HTTP/1.1', 'Host: evil.example', 'Host: localhost'],
      ['GET http://evil.example/v1/things HTTP/1.1', 'Host: localhost'],
      ['GET http://localhost/v1/things HTTP/1.1', 'Host: evil.example'],
      ['GET /v1/things HTTP/1.1'],
    ]) {
      expect(await raw(other), other.join()).to.be.within(400, 421)
    }
  })
})

describe('requireKnownHost, with authentication', () => {
  it('accepts every host name, because a page of another site has no token', async () => {
    const auth = { issuer: undefined, keys: { find: () => undefined } }
    const { app } = thingsApp(undefined, undefined, { auth })
    expect((await call(app, '/v1/things', { headers: { host: 'shop.example' } })).status).to.equal(401)
    expect((await call(app, '/openapi.json', { headers: { host: 'shop.example' } })).status).to.equal(200)
  })
})
