import { randomUUID } from 'node:crypto'
import { createApp, type Route, readSettings } from '@orderflow/service-kit'
import { createApiKey } from '@orderflow/service-kit/setup'
import {
  type Answer,
  capturedLog,
  FakeSidecar,
  post,
  send,
  startIssuer,
  type TestIssuer,
  withServer,
} from '@orderflow/service-kit/testing'
import { reacting, testedServices } from '@orderflow/test-kit'
import { expect } from 'chai'

interface Problem {
  type: string
  detail: string
}

const audience = 'orderflow'
const now = () => new Date()
const tokens = { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' }

for (const service of await testedServices()) {
  const { definition, parts, subject } = service
  const scopes = [...new Set(parts.routes.map(({ operation }) => operation.scope))]
  const keyOf = (tenant: string, ...granted: string[]) => createApiKey({ name: 'test', scopes: granted, tenant }, now())

  describe(`access control of ${service.name} in closed mode`, () => {
    let issuer: TestIssuer
    let app: ReturnType<typeof createApp>
    const known = keyOf('acme', ...scopes)
    const keys = new Map(scopes.map((scope) => [scope, keyOf('acme', ...scopes.filter((other) => other !== scope))]))

    before(async () => {
      issuer = await startIssuer()
      const records = [known, ...keys.values()].map(({ record }) => record)
      const env = {
        ...tokens,
        Auth__Mode: 'closed',
        Auth__Issuer: issuer.url,
        Auth__Audience: audience,
        Auth__ApiKeys: JSON.stringify(records),
      }
      const dependencies = { log: capturedLog().log, sidecar: new FakeSidecar(), now, newId: randomUUID }
      app = createApp(definition, { ...dependencies, settings: readSettings(definition, env) })
    })
    after(() => issuer.stop())

    const request = ({ operation: { method, path } }: Route, credential?: string, id: string = randomUUID()) =>
      withServer(app.web, (url) =>
        send<Problem>(`${url}${path.replace('{id}', id)}`, {
          method,
          headers: {
            'content-type': 'application/json',
            ...(credential && { authorization: `Bearer ${credential}` }),
          },
          ...(method === 'post' && { body: '{' }),
        }),
      )
    const codeOf = ({ status, body }: Answer<Problem>) =>
      `${status} ${body.type?.replace('urn:orderflow:problem:', '')}`

    for (const route of parts.routes) {
      const { method, path, scope } = route.operation

      describe(`${method} ${path}`, () => {
        const seconds = (offset: number) => Math.floor(Date.now() / 1000) + offset
        const refused: Record<string, () => Promise<string | undefined>> = {
          'no token': async () => undefined,
          'a token that has expired': () => issuer.token({ scope, exp: seconds(-60) }),
          'a token for another audience': () => issuer.token({ scope, aud: 'another' }),
          'a token of another issuer': () => issuer.token({ scope, iss: 'https://elsewhere.example' }),
          'a key that was revoked': async () => keyOf('acme', scope).key,
          'the hash of a key': async () => known.record.hash,
          'half a key': async () => known.key.slice(0, 30),
        }
        for (const [what, credential] of Object.entries(refused)) {
          it(`rejects a request with ${what}`, async () => {
            const answer = await request(route, await credential())
            expect(codeOf(answer)).to.equal('401 unauthenticated')
            expect(answer.headers.get('www-authenticate')).to.match(/^Bearer( error="invalid_token")?$/)
          })
        }

        it('gives the same answer for an unknown key and a wrong key', async () => {
          const wrong = `${known.key.slice(0, -4)}AAAA`
          const [one, other] = [await request(route, wrong), await request(route, keyOf('', scope).key)]
          expect([one.status, one.body.detail]).to.deep.equal([other.status, other.body.detail])
        })

        it(`rejects a token or key that lacks the scope ${scope}, even if it has all other scopes`, async () => {
          const others = scopes.filter((other) => other !== scope).join(' ')
          for (const credential of [await issuer.token({ scope: others }), keys.get(scope)?.key]) {
            const answer = await request(route, credential)
            expect(codeOf(answer)).to.equal('403 insufficient-scope')
            expect(answer.headers.get('www-authenticate')).to.contain(`scope="${scope}"`)
          }
        })

        it(`accepts a token or key with the scope ${scope}`, async () => {
          for (const credential of [await issuer.token({ scope }), known.key]) {
            expect((await request(route, credential)).status).not.to.be.oneOf([401, 403])
          }
        })

        it('names the required scope in the OpenAPI document', async () => {
          const { body } = await withServer(app.web, (url) => send<OpenApi>(`${url}/openapi.json`))
          const operation = body.paths[path]?.[method]
          expect(operation?.security).to.deep.equal([{ key: [] }, { token: [] }])
          expect(operation?.description).to.contain(`Scope: \`${scope}\``)
          expect(operation?.responses).to.include.keys('401', '403')
        })
      })
    }

    it('serves its health and its API page without authentication', async () => {
      await withServer(app.web, async (url) => {
        for (const path of ['/livez', '/openapi.json']) expect((await send(url + path)).status, path).to.equal(200)
        expect((await fetch(`${url}/docs/`)).status).to.equal(200)
      })
    })

    it('answers 401 to a request without a token, even for an unknown path', async () => {
      await withServer(app.web, async (url) => {
        for (const path of ['/v1', '/admin']) expect((await send(url + path)).status, path).to.equal(401)
      })
    })

    it('answers 503 while the issuer is unreachable', async () => {
      const lonely = await startIssuer()
      const env = { ...tokens, Auth__Mode: 'closed', Auth__Issuer: lonely.url, Auth__Audience: audience }
      const dependencies = { log: capturedLog().log, sidecar: new FakeSidecar(), now, newId: randomUUID }
      const closed = createApp(definition, { ...dependencies, settings: readSettings(definition, env) })
      const token = await lonely.token()
      await lonely.stop()
      const [first] = parts.routes
      const answer = await withServer(closed.web, (url) =>
        send(`${url}${first?.operation.path}`, { headers: { authorization: `Bearer ${token}` } }),
      )
      expect([answer.status, answer.headers.get('retry-after')]).to.deep.equal([503, '1'])
    })

    if (reacting([service]).length === 0) return

    describe('isolation of tenants', () => {
      const tenantKeys = { acme: known, rival: keyOf('rival', ...scopes), nobody: keyOf('', ...scopes) }
      const asTenant = (name: keyof typeof tenantKeys) => ({ authorization: `Bearer ${tenantKeys[name].key}` })
      let tenantApp: typeof app
      let id: string
      const list = parts.routes.find(({ operation: { method, path } }) => method === 'get' && !path.includes('{'))

      const listed = async (tenant: keyof typeof tenantKeys) => {
        const url = (base: string) => `${base}${list?.operation.path}`
        const { body } = await withServer(tenantApp.web, (base) =>
          send<{ items: { id: string }[] }>(url(base), { headers: asTenant(tenant) }),
        )
        return body.items.map((item) => item.id)
      }

      before(async () => {
        const records = Object.values(tenantKeys).map(({ record }) => record)
        const env = { ...tokens, Auth__Mode: 'closed', Auth__ApiKeys: JSON.stringify(records) }
        const dependencies = { log: capturedLog().log, sidecar: new FakeSidecar(), now, newId: randomUUID }
        tenantApp = createApp(definition, { ...dependencies, settings: readSettings(definition, env) })
        const { topic, key, envelope } = subject.event()
        await deliver(tenantApp, topic, key, { ...envelope, TenantID: 'acme' })
        ;[id = ''] = await listed('acme')
      })

      it('lists only the data of the caller’s tenant', async () => {
        expect(id).to.match(/^[\da-f-]{36}$/)
        expect(await listed('rival')).to.deep.equal([])
        expect(await listed('nobody')).to.deep.equal([])
      })

      for (const { operation } of parts.routes.filter(({ operation: { path } }) => path.includes('{id}'))) {
        it(`answers 404 for ${operation.method} ${operation.path} with an id that belongs to another tenant`, async () => {
          await withServer(tenantApp.web, async (url) => {
            const path = url + operation.path.replace('{id}', id)
            const as = (tenant: keyof typeof tenantKeys) =>
              send<Problem>(path, { method: operation.method, headers: asTenant(tenant) })
            for (const tenant of ['rival', 'nobody'] as const) expect((await as(tenant)).status, tenant).to.equal(404)
            expect((await as('acme')).status).to.equal(200)
          })
        })
      }
    })
  })

  describe(`access control of ${service.name} in open mode`, () => {
    if (reacting([service]).length === 0) return

    it('returns the data of all tenants without authentication', async () => {
      const dependencies = { log: capturedLog().log, sidecar: new FakeSidecar(), now, newId: randomUUID }
      const app = createApp(definition, { ...dependencies, settings: service.settings })
      const { topic, key, envelope } = subject.event()
      await deliver(app, topic, key, { ...envelope, TenantID: 'acme' })
      const list = parts.routes.find(({ operation: { method, path } }) => method === 'get' && !path.includes('{'))
      const { status, body } = await withServer(app.web, (url) =>
        send<{ items: object[] }>(`${url}${list?.operation.path}`),
      )
      expect([status, body.items.length]).to.deep.equal([200, 1])
    })
  })
}

describe('every route of every service', () => {
  it('declares the scope that it requires', async () => {
    for (const { name, parts } of await testedServices()) {
      for (const { operation } of parts.routes) {
        expect(operation.scope, `${name} ${operation.path}`).to.match(/^[a-z][a-z-]*:(read|write|operate|reveal)$/)
      }
    }
  })
})

interface OpenApi {
  paths: Record<string, Record<string, { security: object[]; description: string; responses: object }>>
}

/** Delivers an event as the sidecar does, and waits until the service has handled it. */
async function deliver(
  app: ReturnType<typeof createApp>,
  topic: string,
  key: string | undefined,
  envelope: object,
): Promise<void> {
  const event = Buffer.from(JSON.stringify(envelope)).toString('base64')
  const entries = [{ entryId: '0', event, metadata: { __key: key, __partition: '0', __offset: '0' } }]
  const { body } = await withServer(app.channel, (url) =>
    post(`${url}/subscriptions/${topic}`, { entries }, { 'dapr-api-token': 'app' }),
  )
  expect(body).to.deep.equal({ statuses: [{ entryId: '0', status: 'SUCCESS' }] })
}
