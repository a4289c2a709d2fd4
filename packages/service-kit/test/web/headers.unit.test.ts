import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { call } from './support/call.ts'
import { thingId, thingsApp } from './support/things.ts'

const policyOf = (header: unknown) =>
  Object.fromEntries(
    String(header)
      .split(';')
      .map((directive) => directive.trim().split(' '))
      .map(([name = '', ...sources]) => [name, sources]),
  )

describe('security headers', () => {
  const { app } = thingsApp(undefined, undefined, { proxies: 1 })
  const hsts = 'strict-transport-security'

  for (const [what, path] of Object.entries({
    answer: '/v1/things',
    problem: `/v1/things/none`,
    'unknown path': '/none',
    'readiness check': '/readyz',
    document: '/openapi.json',
    redirect: '/',
  })) {
    it(`security headers forbid loading, framing, caching and guessing of types for a${/^[aeiou]/.test(what) ? 'n' : ''} ${what}`, async () => {
      const { headers } = await call(app, path)
      expect(headers).to.include({
        'content-security-policy': "default-src 'none';frame-ancestors 'none'",
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
      })
      expect(headers).not.to.include.any.keys(hsts, 'x-powered-by')
    })
  }

  describe('security headers of the page of operations', () => {
    const discovery = {
      issuer: 'https://login.example',
      jwks_uri: 'https://login.example/keys',
      authorization_endpoint: 'https://login.example/auth',
      token_endpoint: 'https://tokens.example/token',
    }
    const verify = async () => {
      throw new Error('nobody comes')
    }
    const issuer = { verify, discover: async () => discovery, clientId: 'page' }
    const { app: closed } = thingsApp(undefined, undefined, { auth: { issuer, keys: undefined } })

    it('the page may load only its own files, may send requests only to the issuer, and cannot be framed', async () => {
      const { headers, text } = await call(closed, '/docs/')
      expect(headers).to.include({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
      })
      const { 'style-src': styles = [], ...policy } = policyOf(headers['content-security-policy'])
      expect(policy).to.deep.equal({
        'default-src': ["'none'"],
        'script-src': ["'self'"],
        'img-src': ["'self'", 'data:'],
        'connect-src': ["'self'", 'https://tokens.example'],
        'base-uri': ["'none'"],
        'form-action': ["'none'"],
        'frame-ancestors': ["'none'"],
      })
      expect(styles).not.to.include("'unsafe-inline'")
      const inline = [...text.matchAll(/<style>([\s\S]*?)<\/style>|\sstyle="(.*?)"/g)]
      expect(inline).to.have.length.above(0)
      for (const [, element, attribute = element] of inline) {
        expect(styles).to.include(`'sha256-${createHash('sha256').update(String(attribute)).digest('base64')}'`)
      }
      expect(text).not.to.match(/<script(?![^>]*\ssrc=)|\son\w+=/)
    })

    it('the page and its files may send requests only to their own site if authentication is off', async () => {
      const own = thingsApp().app
      for (const file of ['', 'swagger-ui-init.js', 'swagger-ui.css', 'swagger-ui-bundle.js', 'oauth2-redirect.html']) {
        const { status, headers } = await call(own, `/docs/${file}`)
        expect([status, policyOf(headers['content-security-policy'])['connect-src']]).to.deep.equal([200, ["'self'"]])
        expect(headers['cache-control'], 'is asked for again with its ETag').to.equal('no-cache')
      }
    })

    it('the sign-in page may call the page that opened it', async () => {
      const opener = async (path: string) => (await call(app, path)).headers['cross-origin-opener-policy']
      expect(await opener('/docs/')).to.equal('same-origin-allow-popups')
      expect(await opener('/docs/oauth2-redirect.html')).to.equal('unsafe-none')
    })

    it('the page does not send the OpenAPI document to a site that validates such documents', async () => {
      expect((await call(app, '/docs/swagger-ui-init.js')).text).to.contain('"validatorUrl": null')
    })
  })

  describe('Strict-Transport-Security', () => {
    const over = (proto: string, host: string, path = `/v1/things/${thingId}`) =>
      call(app, path, { headers: { 'x-forwarded-proto': proto, host } }).then(({ headers }) => headers[hsts])

    it('the header is sent over https, for this host but not for its subdomains', async () => {
      for (const path of ['/v1/things', '/docs/', '/none']) {
        expect(await over('https', 'shop.example', path)).to.equal('max-age=31536000')
      }
    })

    it('the header is left out over http, even if a client claims https', async () => {
      expect(await over('http', 'shop.example')).to.equal(undefined)
      const headers = { 'x-forwarded-proto': 'https', host: 'shop.example' }
      expect((await call(thingsApp().app, '/v1/things', { headers })).headers).not.to.include.keys(hsts)
    })

    it('the header is left out for localhost, because other ports of localhost use http', async () => {
      for (const host of ['localhost', 'localhost:5001', 'LOCALHOST:5001', 'shop.localhost']) {
        expect(await over('https', host), host).to.equal(undefined)
      }
      for (const host of ['localhost.example', 'mylocalhost', '127.0.0.1:5001']) {
        expect(await over('https', host), host).to.equal('max-age=31536000')
      }
    })
  })
})
