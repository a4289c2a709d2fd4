import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { call } from './support/call.ts'
import { thingId, thingsApp } from './support/things.ts'

/** The directives of a policy, by name. */
const policyOf = (header: unknown) =>
  Object.fromEntries(
    String(header)
      .split(';')
      .map((directive) => directive.trim().split(' '))
      .map(([name = '', ...sources]) => [name, sources]),
  )

describe('what answers tell browsers not to do', () => {
  const { app } = thingsApp(undefined, undefined, { proxies: 1 })
  const hsts = 'strict-transport-security'

  for (const [what, path] of Object.entries({
    answer: '/v1/things',
    problem: `/v1/things/none`,
    'path that there is not': '/none',
    'question after its health': '/readyz',
    document: '/openapi.json',
    redirection: '/',
  })) {
    it(`is, of a${/^[aeiou]/.test(what) ? 'n' : ''} ${what}: to load, frame, keep or guess anything`, async () => {
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

  describe('of the page', () => {
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

    it('is to load or run anything but its own files, to be framed, or to send anything but to whom people sign in', async () => {
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

    it('allows no source that is not told, and each of its files has the same', async () => {
      const own = thingsApp().app
      for (const file of ['', 'swagger-ui-init.js', 'swagger-ui.css', 'swagger-ui-bundle.js', 'oauth2-redirect.html']) {
        const { status, headers } = await call(own, `/docs/${file}`)
        expect([status, policyOf(headers['content-security-policy'])['connect-src']]).to.deep.equal([200, ["'self'"]])
        expect(headers['cache-control'], 'is asked for again with its ETag').to.equal('no-cache')
      }
    })

    it('lets the page that a sign-in comes back to call the page that began it', async () => {
      const opener = async (path: string) => (await call(app, path)).headers['cross-origin-opener-policy']
      expect(await opener('/docs/')).to.equal('same-origin-allow-popups')
      expect(await opener('/docs/oauth2-redirect.html')).to.equal('unsafe-none')
    })

    it('is to ask anybody else whether its document is valid', async () => {
      expect((await call(app, '/docs/swagger-ui-init.js')).text).to.contain('"validatorUrl": null')
    })
  })

  describe('to come without TLS', () => {
    const over = (proto: string, host: string, path = `/v1/things/${thingId}`) =>
      call(app, path, { headers: { 'x-forwarded-proto': proto, host } }).then(({ headers }) => headers[hsts])

    it('is said over https, of this host alone', async () => {
      for (const path of ['/v1/things', '/docs/', '/none']) {
        expect(await over('https', 'shop.example', path)).to.equal('max-age=31536000')
      }
    })

    it('is not said over http, nor by a client that says so', async () => {
      expect(await over('http', 'shop.example')).to.equal(undefined)
      const headers = { 'x-forwarded-proto': 'https', host: 'shop.example' }
      expect((await call(thingsApp().app, '/v1/things', { headers })).headers).not.to.include.keys(hsts)
    })

    it('is not said of localhost, where other ports speak http', async () => {
      for (const host of ['localhost', 'localhost:5001', 'LOCALHOST:5001', 'shop.localhost']) {
        expect(await over('https', host), host).to.equal(undefined)
      }
      for (const host of ['localhost.example', 'mylocalhost', '127.0.0.1:5001']) {
        expect(await over('https', host), host).to.equal('max-age=31536000')
      }
    })
  })
})
