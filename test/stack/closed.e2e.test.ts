import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { anOrder, orderUrl, paymentUrl, post, send } from '@orderflow/chaos/clients/api'
import { full } from '@orderflow/chaos/clients/envelopes'
import type { Order } from '@orderflow/order-service/order'
import type { Payment } from '@orderflow/payment-service/payment'
import { publisherOf } from '@orderflow/service-kit/testing'
import { urlOf } from '@orderflow/stack'
import { eventually } from '@orderflow/stack/base'
import { openBrowser, openPage } from '@orderflow/stack/browser'
import { testedServices } from '@orderflow/test-kit'
import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { failed, orderflowFailed, succeeded } from '../specs/operations/commands.ts'
import { type LocalCheckout, localCheckout, type StartedCheckout } from '../support/checkouts/local-checkout.ts'
import { execute } from '../support/web/browser.ts'
import { pageClient, type SignIn, startSignIn } from '../support/web/sign-in.ts'

const tested = await testedServices()
const scopes = [...new Set(tested.flatMap(({ parts }) => parts.routes.map(({ operation }) => operation.scope)))]

describe('a closed stack', () => {
  let checkout: LocalCheckout
  let signIn: SignIn
  let stack: StartedCheckout
  before(async () => {
    checkout = await localCheckout('closed')
    const ports = Object.values(checkout.ports.services).map(({ http }) => http)
    signIn = await startSignIn({
      client: pageClient(
        'pages',
        ports.map((port) => `http://127.0.0.1:${port}/docs/oauth2-redirect.html`),
      ),
      audience: 'orderflow',
      scopes,
      tenantOf: (name) => (name === 'ada' ? 'acme' : 'rival'),
    })
    stack = await checkout.start(
      'Auth__Mode=closed',
      `Auth__Issuer=${signIn.issuer}`,
      'Auth__Audience=orderflow',
      'Auth__ClientId=pages',
    )
  })
  after(async () => {
    await checkout?.remove()
    await signIn?.stop()
  })

  const orders = () => `${orderUrl(stack)}/v1/orders`
  const make = async (...args: string[]) => succeeded(await stack.make(...args))
  const apiKey = (...args: string[]) => stack.orderflow(['api-key', ...args])
  const newKey = async (name: string, scopes: string, ...more: string[]) =>
    /^ofk_\S+$/m.exec(succeeded(await apiKey('create', name, '--scopes', scopes, ...more)))?.[0] ?? ''
  const as = (key: string) => ({ authorization: `Bearer ${key}` })
  const prefixOf = (key: string) => key.split('_')[1] ?? ''

  it('answers 401 to a request without credentials, and `make demo` suggests creating an API key', async () => {
    expect((await send(orders())).status).to.equal(401)
    expect((await post(orders(), anOrder)).status).to.equal(401)
    expect(failed(await stack.make('demo'))).to.match(/answered 401.*\nnext: \.\/orderflow api-key/)
  })

  it('accepts a new key at once, continues to accept an older key, and rejects a revoked key', async () => {
    expect(succeeded(await apiKey())).to.contain('there are no API keys')
    const [old, fresh] = [await newKey('shop', 'orders:read'), await newKey('shop', 'orders:read')]
    for (const key of [old, fresh]) expect((await send(orders(), { headers: as(key) })).status).to.equal(200)
    expect((await post(orders(), anOrder, as(fresh))).status).to.equal(403)
    const list = succeeded(await apiKey())
    for (const key of [old, fresh]) expect(list).to.contain(prefixOf(key)).and.not.contain(key)
    succeeded(await apiKey('revoke', prefixOf(old)))
    const isRefused = async () => (await send(orders(), { headers: as(old) })).status === 401 || undefined
    await eventually(isRefused, 'the revoked key to be refused')
    expect((await send(orders(), { headers: as(fresh) })).status).to.equal(200)
  })

  it('refuses to create an invalid key or to revoke an unknown one', async () => {
    expect(orderflowFailed(await apiKey('create', 'shop'))).to.match(
      /--scopes is missing.*\nnext: \.\/orderflow api-key create/,
    )
    expect(orderflowFailed(await apiKey('create', 'shop', '--scopes', 'orders:all'))).to.contain(
      'orders:all: unknown scope',
    )
    expect(orderflowFailed(await apiKey('create', '--scopes', 'orders:read'))).to.contain('the name is missing')
    expect(orderflowFailed(await apiKey('revoke', 'nothing'))).to.contain('no key has the prefix nothing')
  })

  it('runs `make demo` with a key, and hides the order of this run from other tenants', async () => {
    const all = scopes.join(' ')
    const [own, rival] = [
      await newKey('demo', all, '--tenant', 'acme'),
      await newKey('rival', all, '--tenant', 'rival'),
    ]
    const printed = await make('demo', `API_KEY=${own}`)
    expect(printed).to.contain('the order is paid')
    const id = /order ([\da-f-]{36}) is/.exec(printed)?.[1] ?? ''
    const payments = `${paymentUrl(stack)}/v1/payments`
    const paid = await send<{ items: Payment[] }>(`${payments}?orderId=${id}`, { headers: as(own) })
    expect(paid.body.items).to.have.length(1)
    const [payment] = paid.body.items
    for (const path of [`${orders()}/${id}`, `${payments}/${payment?.id}`]) {
      expect((await send(path, { headers: as(own) })).status, path).to.equal(200)
      expect((await send(path, { headers: as(rival) })).status, path).to.equal(404)
    }
    expect((await post(`${orders()}/${id}/cancel`, undefined, as(rival))).status).to.equal(404)
    const others = await send<{ items: Payment[] }>(`${payments}?orderId=${id}`, { headers: as(rival) })
    expect(others.body.items).to.deep.equal([])
    expect((await post<Order>(`${orders()}/${id}/cancel`, undefined, as(own))).body.status).to.equal('Cancelled')
  })

  it('creates separate orders for two tenants with the same Idempotency-Key', async () => {
    const all = scopes.join(' ')
    const [own, rival] = [await newKey('a', all, '--tenant', 'acme'), await newKey('b', all, '--tenant', 'rival')]
    const place = async (key: string) =>
      (await post<Order>(orders(), anOrder, { ...as(key), 'idempotency-key': 'the-same' })).body.id
    const ids = [await place(own), await place(rival), await place(own)]
    expect(ids[0]).to.equal(ids[2]).and.not.equal(ids[1])
  })

  describe('a command in a shell without the settings of the stack', () => {
    const refused = async (...args: string[]) =>
      orderflowFailed(await stack.orderflow(args, { Auth__Mode: 'loopback' }))

    it('leaves a restarted service closed, and keeps the tenant of every rebuilt document', async () => {
      const all = scopes.join(' ')
      const [own, none] = [await newKey('own', all, '--tenant', 'acme'), await newKey('none', all)]
      const { id } = (await post<Order>(orders(), anOrder, as(own))).body
      const statusFor = async (key: string) => (await send(`${orders()}/${id}`, { headers: as(key) })).status
      const listedFor = async (key: string) =>
        (await send<{ items: Order[] }>(orders(), { headers: as(key) })).body.items
      const others = (await listedFor(none)).length
      await make('rebuild', 'SERVICE=order-service')
      expect([await statusFor(own), await statusFor(none)]).to.deep.equal([200, 404])
      expect(await listedFor(none)).to.have.length(others)
      succeeded(await stack.orderflow(['restart', 'order-service']))
      expect((await send(orders())).status).to.equal(401)
      expect([await statusFor(own), await statusFor(none)]).to.deep.equal([200, 404])
    })

    it('leaves a service closed that `make up` starts again', async () => {
      await stack.kill('order-service')
      expect(await make('up')).to.match(/settings of an earlier start: .*Auth__Mode/)
      expect((await send(orders())).status).to.equal(401)
    })

    it('fails if its own settings differ, and names the next step', async () => {
      const refusal = /the stack was started with another value of Auth__Mode\nnext: unset Auth__Mode/
      for (const args of [
        ['restart', 'order-service'],
        ['rebuild', 'order-service'],
        ['dead-letters'],
        ['up'],
        ['dev'],
      ])
        expect(await refused(...args), args[0]).to.match(refusal)
      expect((await send(orders())).status).to.equal(401)
    })

    it('uses the ports of the stack, and refuses to start it at others', async () => {
      const PORT_OFFSET = ''
      expect(succeeded(await stack.orderflow(['status'], { PORT_OFFSET }))).to.contain(` ${checkout.ports.kafka} `)
      expect(succeeded(await stack.orderflow(['retention'], { PORT_OFFSET }))).to.contain('orderevents: kept for ever')
      const moved = await stack.orderflow(['up'], { PORT_OFFSET: '20000' })
      expect(orderflowFailed(moved)).to.match(/already runs with PORT_OFFSET=\d+\nnext: leave PORT_OFFSET out/)
    })
  })

  describe('event-gateway in closed mode', () => {
    const url = () => `${urlOf(stack, 'event-gateway')}/v1/events/orderevents`
    let legacy: string
    let other: string
    before(async () => {
      const trust = join(checkout.folder, 'components/trust/trust.json')
      const { AppId, AppName } = full()
      const entry = { name: AppName, topics: { orderevents: ['OrderCreated'] }, apiKey: 'legacy' }
      writeFileSync(trust, JSON.stringify({ unlisted: 'accept', publishers: { [AppId]: entry } }))
      succeeded(await stack.orderflow(['restart', 'event-gateway']))
      legacy = await newKey('legacy', 'events:write')
      other = await newKey('other', 'events:write')
      const isKnown = async () => (await post(url(), [], as(other))).status === 400 || undefined
      await eventually(isKnown, 'the gateway to know the keys')
    })
    const told = async (envelope: object, key: string | undefined) => {
      const headers: Record<string, string> = key === undefined ? {} : as(key)
      const { status, body } = await post<{ items?: { errors: { message: string }[] }[] }>(url(), envelope, headers)
      return `${status} ${body.items?.[0]?.errors[0]?.message ?? ''}`
    }

    it('publishes an application’s order with the application’s key, and the order is paid', async () => {
      const envelope = { ...full(), TenantID: '' }
      expect(await told(envelope, legacy)).to.equal('202 ')
      const reader = await newKey('reader', 'orders:read')
      const isPaid = async () => {
        const { body } = await send<Order>(`${orders()}/${envelope.Payload.OrderId}`, { headers: as(reader) })
        return body.status === 'Paid' || undefined
      }
      await eventually(isPaid, 'the order to be Paid')
    })

    it('rejects a wrong or missing key, an unlisted AppId, a TenantID, the AppId of a service, and a topic that only services may publish to', async () => {
      const AppId = crypto.randomUUID()
      const { id, name } = publisherOf('OrderCreated')
      expect(await told(full(), other)).to.match(/^403 .*a different apiKey/)
      expect(await told(full(), undefined)).to.equal('401 ')
      expect(await told({ ...full(), AppId }, legacy)).to.match(/^403 .*not listed/)
      expect(await told({ ...full(), TenantID: 'acme' }, legacy)).to.match(/^403 .*do not include the TenantID/)
      expect(await told({ ...full(), AppId: id, AppName: name }, legacy)).to.match(
        /^403 .*use the AppId of your own application/,
      )
      expect((await post(url().replace('orderevents', 'paymentevents'), full(), as(legacy))).status).to.equal(403)
    })
  })

  describe('the pages of a closed stack in a browser', () => {
    let browser: Browser
    let page: Page
    const refused: string[] = []
    before(async () => {
      browser = await openBrowser()
    })
    after(() => browser?.close())
    beforeEach(async () => {
      page = await browser.newPage()
      page.on(
        'console',
        (message) => message.text().includes('Content Security Policy') && refused.push(message.text()),
      )
      await openPage(page, `${orderUrl(stack)}/docs/`, page.locator('.opblock').first())
      await page.locator('.auth-wrapper .authorize').click()
    })
    afterEach(() => page.close())

    async function statusOf(operation: string): Promise<number> {
      await page.locator('.dialog-ux .close-modal').click()
      const status = (await execute(page, operation)).locator('.live-responses-table .response-col_status').last()
      return Number.parseInt((await status.textContent()) ?? '', 10)
    }

    it('lets a user sign in at the issuer with PKCE and place an order for the user’s tenant', async () => {
      const popup = page.context().waitForEvent('page')
      const form = page.locator('.auth-container', { hasText: 'authorizationCode' })
      await form.locator('button', { hasText: 'Authorize' }).click()
      const login = await popup
      await login.locator('input[name=login]').fill('ada')
      await login.locator('input[name=password]').fill('any')
      await login.getByRole('button').click()
      await login.getByRole('button', { name: 'Continue' }).click()
      await form.locator('button', { hasText: 'Logout' }).waitFor()
      expect(await statusOf('POST /v1/orders')).to.equal(201)
      const key = await newKey('reader', 'orders:read', '--tenant', 'acme')
      const isPaid = async () => {
        const { body } = await send<{ items: Order[] }>(orders(), { headers: as(key) })
        return body.items[0]?.status === 'Paid' || undefined
      }
      await eventually(isPaid, 'the newest order of her tenant to be Paid')
      expect(refused).to.deep.equal([])
    })

    it('lets a user sign in to the monitor with a key, and shows new events that match the filters in the address', async () => {
      const monitor = urlOf(stack, 'event-monitor')
      const key = await newKey('looks', 'events:read')
      const dialog = page.getByRole('dialog', { name: 'Sign in' })
      await openPage(page, `${monitor}/?topic=orderevents`, dialog)
      await dialog.getByLabel('API key or token').fill(`${key}x`)
      await dialog.getByRole('button', { name: 'Sign in' }).click()
      await dialog.getByText('The token is not valid').waitFor()
      await dialog.getByLabel('API key or token').fill(key)
      await dialog.getByRole('button', { name: 'Sign in' }).click()
      await page.locator('.event-row', { hasText: 'OrderCreated' }).first().waitFor()
      await page.getByText('index up to date').waitFor()
      await page.getByRole('button', { name: `Sign out looks` }).waitFor()
      expect(page.url()).to.equal(`${monitor}/?topic=orderevents`)
      expect(refused).to.deep.equal([])
    })

    it('lets a user try an operation with an API key', async () => {
      const key = await newKey('page', 'orders:write')
      const form = page.locator('.auth-container', { hasText: 'API key' })
      await form.locator('input').fill(key)
      await form.locator('button', { hasText: 'Authorize' }).click()
      expect(await statusOf('POST /v1/orders')).to.equal(201)
    })
  })
})
