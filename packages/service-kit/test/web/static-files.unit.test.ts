import { expect } from 'chai'
import { withServer } from '../../src/testing/http.ts'
import { call } from './support/call.ts'
import { webWith } from './support/things.ts'

const page = { path: '/page', type: 'text/html; charset=utf-8', content: '<p>é', sources: { styleSrc: ["'self'"] } }
const files = [{ path: '/schemas/a.json', type: 'application/schema+json', content: '{"a":1}' }, page]

describe('staticFiles', () => {
  const app = webWith({ files })

  it('lets pages of other sites read the documents', async () => {
    await withServer(app, async (url) => {
      const answer = await fetch(`${url}/schemas/a.json`)
      expect([answer.status, await answer.text()]).to.deep.equal([200, '{"a":1}'])
      const headers = Object.fromEntries(answer.headers)
      expect(headers).to.include({
        'content-type': 'application/schema+json',
        'access-control-allow-origin': '*',
        'cross-origin-resource-policy': 'cross-origin',
        'cache-control': 'no-cache',
        'content-security-policy': "default-src 'none';base-uri 'none';frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
      })
      const head = await fetch(`${url}/schemas/a.json`, { method: 'HEAD' })
      expect([head.status, await head.text()]).to.deep.equal([200, ''])
    })
  })

  it('adds the proxy’s path prefix to paths in documents', async () => {
    const list = { path: '/list', type: 'text/plain', content: (prefix: string) => `${prefix}/schemas/a.json` }
    const behind = webWith({ files: [list], proxies: 1 })
    const headers = { 'x-forwarded-prefix': '/things-api' }
    expect((await call(behind, '/list', { headers })).text).to.equal('/things-api/schemas/a.json')
    expect((await call(behind, '/list')).text).to.equal('/schemas/a.json')
  })

  it('redirects a path with a slash at its end to the path without the slash, so that relative links work', async () => {
    await withServer(app, async (url) => {
      const answer = await fetch(`${url}/schemas/a.json/`)
      expect([answer.url, await answer.text()]).to.deep.equal([`${url}/schemas/a.json`, '{"a":1}'])
    })
  })

  it('allows a page to load only from the given sources', async () => {
    await withServer(app, async (url) => {
      const answer = await fetch(`${url}/page`)
      expect(await answer.text()).to.equal('<p>é')
      expect(answer.headers.get('content-security-policy')).to.match(/default-src 'none';.*;style-src 'self'$/)
    })
  })
})
