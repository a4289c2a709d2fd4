import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import { expect } from 'chai'
import { withServer } from '../../src/testing/http.ts'
import type { SiteFile } from '../../src/web/pages.ts'
import { call } from './support/call.ts'
import { thingRoutes, webWith } from './support/things.ts'

const file = (text: string, over: Partial<SiteFile> = {}) => ({
  bytes: Buffer.from(text),
  br: brotliCompressSync(text),
  type: 'text/html; charset=utf-8',
  etag: `"${text.length}"`,
  immutable: false,
  ...over,
})

describe('site', () => {
  const files: Record<string, SiteFile> = {
    '/assets/a.js': file('run()', { type: 'text/javascript; charset=utf-8', immutable: true }),
  }
  const app = webWith({
    routes: thingRoutes(),
    refusals: { 'too-heavy': { status: 409, title: 'The thing is too heavy' } },
    page: {
      policy: "default-src 'none'; script-src 'self'",
      read: (path) =>
        files[path]
          ? { status: 200, file: files[path] }
          : path.startsWith('/assets/')
            ? undefined
            : { status: path === '/' ? 200 : 404, file: file('a page') },
    },
  })

  it('serves the page with its content security policy, and makes browsers revalidate the page', async () => {
    const { status, headers, text } = await call(app, '/')
    expect([status, text, headers['content-type']]).to.deep.equal([200, 'a page', 'text/html; charset=utf-8'])
    expect(headers['content-security-policy']).to.equal("default-src 'none'; script-src 'self'")
    expect(headers).to.include({ 'cache-control': 'no-cache', etag: '"6"', 'x-frame-options': 'DENY' })
  })

  it('passes OPTIONS for an operation’s path to the operation', async () => {
    const { status, headers } = await call(app, '/v1/things', { method: 'OPTIONS' })
    expect([status, headers.allow]).to.deep.equal([204, 'POST, GET, HEAD, OPTIONS'])
  })

  it('serves files that browsers may cache, compressed if the browser accepts compression', async () => {
    await withServer(app, async (url) => {
      const { headers, body } = await fetch(`${url}/assets/a.js`, { headers: { 'accept-encoding': 'gzip, br' } })
      expect(headers.get('content-encoding')).to.equal('br')
      expect(headers.get('cache-control')).to.equal('public, max-age=31536000, immutable')
      expect(await new Response(body).text()).to.equal('run()')
    })
    expect(brotliDecompressSync(file('run()').br ?? '').toString()).to.equal('run()')
    const plain = await call(app, '/assets/a.js', { headers: { 'accept-encoding': 'identity' } })
    expect([plain.headers['content-encoding'], plain.text]).to.deep.equal([undefined, 'run()'])
  })

  it('answers 304 if the browser already has the file', async () => {
    const { status, text } = await call(app, '/', { headers: { 'if-none-match': '"1", "6"' } })
    expect([status, text]).to.deep.equal([304, ''])
  })

  it('passes the proxy’s path prefix to the page, and serves a file uncompressed if it has no compressed form', async () => {
    const read = (path: string, prefix: string) => ({
      status: 200 as const,
      file: { ...file(`${prefix} ${path}`), br: undefined },
    })
    const behind = webWith({ page: { policy: '', read }, proxies: 1 })
    const headers = { 'x-forwarded-prefix': '/watch', 'accept-encoding': 'br' }
    for (const [path, told] of [
      ['/dead/1', '/watch /dead/1'],
      ['/watch', '/watch /'],
    ] as const) {
      const answer = await call(behind, path, { headers })
      expect([answer.text, answer.headers['content-encoding']]).to.deep.equal([told, undefined])
    }
    expect((await call(behind, '/dead/1')).text).to.equal(' /dead/1')
  })

  it('passes requests for operations and for missing files to the API', async () => {
    for (const path of ['/v1/nothing', '/v2', '/assets/b.js']) {
      const { status, headers } = await call(app, path)
      expect([status, headers['content-type']], path).to.deep.equal([404, 'application/problem+json; charset=utf-8'])
    }
    expect((await call(app, '/v1/things')).status).to.equal(200)
    expect((await call(app, '/livez')).json).to.deep.equal({ status: 'up' })
  })

  it('answers a browser’s request for an unknown path with 404 and a page', async () => {
    const { status, text } = await call(app, '/nothing', { headers: { accept: 'text/html,*/*;q=0.8' } })
    expect([status, text]).to.deep.equal([404, 'a page'])
    expect((await call(app, '/nothing')).json.status).to.equal(404)
  })
})
