import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { anOrder, post, send } from '@orderflow/chaos/clients/api'
import { createApiKey } from '@orderflow/service-kit/setup'
import { eventually } from '@orderflow/stack/base'
import { images } from '@orderflow/stack/machine'
import { docker } from '@orderflow/stack/rehearsal'
import { expect } from 'chai'
import { describeInContainers } from '../containers/available.ts'
import { killedReleases } from './killed-releases.ts'
import { otherCommands } from './other-commands.ts'
import { bearer, key, rehearse, scopes, tokenOf } from './support/rehearse.ts'

describeInContainers('releases on a real registry with real containers', function () {
  this.timeout(600_000)
  const tested = rehearse()
  const { stateOf, urlOf, login } = tested

  describe('releases before the login', () => {
    it('writes the config vars and the manual steps to files that only their owner can read', async () => {
      const { status, output } = await tested.operator.orderflow('export', 'order')
      expect(output).to.include('next: ./orderflow release order').and.not.include('Add these values')
      expect(status).to.equal(0)
      const folder = join(tested.env.RELEASE_FOLDER ?? '', 'order-service')
      for (const name of ['config-vars.json', 'instructions.md']) {
        expect(statSync(join(folder, name)).mode & 0o777).to.equal(0o600)
      }
      const vars = JSON.parse(readFileSync(join(folder, 'config-vars.json'), 'utf8'))
      expect(vars).to.include({
        Stream__Brokers: 'kafka:9093',
        App__Name: 'order-service',
        Stream__AuthType: 'password',
      })
      expect(Object.keys(vars).every((name) => /^\w+$/.test(name))).to.equal(true)
      const steps = readFileSync(join(folder, 'instructions.md'), 'utf8')
      expect(steps).to.include('<app_name>').and.include('<ACCESS_TOKEN>')
    })

    const refused: [what: string, variables: NodeJS.ProcessEnv, error: RegExp][] = [
      ['no login', {}, /error: docker is not logged in to localhost:\d+\nnext: printenv ACCESS_TOKEN \| docker login/],
      ['a wrong token', { ACCESS_TOKEN: 'wrong-token' }, /error: \S+ does not accept ACCESS_TOKEN: Invalid cred/],
      ['an app that does not exist', { APP: 'no-such-app' }, /error: \S+ does not have the app no-such-app/],
      ['an app of another kind', { APP: 'legacy' }, /error: legacy is not a container app; its stack is heroku-24/],
      ['no platform', { PLATFORM_API_URL: 'http://127.0.0.1:9' }, /error: 127\.0\.0\.1:9 cannot be reached/],
      ['no registry', { PLATFORM_REGISTRY: 'localhost:9' }, /error: localhost:9 cannot be reached/],
      ['an untrusted registry', { NODE_EXTRA_CA_CERTS: '' }, /error: the certificate of \S+ is not trusted/],
      ['a wrong setting', { Stream__SaslMechanism: 'SCRAM' }, /error: config vars .*\n {2}- Stream__SaslMechanism: /],
      [
        'no possible caller',
        { Auth__Issuer: '', Auth__ApiKeys: '' },
        /error: config vars .*\n {2}- Auth__Issuer: .*\n {2}- Auth__ApiKeys: /,
      ],
      [
        'no engine',
        { DOCKER_HOST: 'unix:///no/engine' },
        /error: docker version failed \(1\):[\s\S]*next: start the Docker/,
      ],
    ]
    for (const [what, variables, error] of refused) {
      it(`refuses ${what} in one message with the next step`, async () => {
        const { status, output } = await tested.operator.makeWith(
          { env: { APP: 'orders', ...variables } },
          'release-order',
        )
        expect(output).to.match(error)
        expect(output.match(/^error: /gm)).to.have.length(1)
        expect(output.match(/^next: /gm)).to.have.length(1)
        expect(output).to.not.match(/\n {4}at /)
        expect(status).to.equal(2)
        expect(stateOf('orders')).to.include({ version: 1, digest: undefined })
      })
    }
  })

  describe('releases after the login', () => {
    before(login)

    it('shows the planned changes in a dry run, and changes nothing', async () => {
      for (const [service, app] of [
        ['order', 'orders'],
        ['payment', 'payments'],
      ]) {
        const { status, output } = await tested.operator.make(`release-${service}`, `APP=${app}`, 'DRY_RUN=1')
        expect(output).to.include('dry run: nothing was changed').and.include('+ State__ConnectionString = ***')
        expect(output).to.match(/up on \$PORT with its sidecar after \d/)
        expect(status).to.equal(0)
        expect(stateOf(app ?? '')).to.include({ version: 1, digest: undefined })
      }
    })

    it('releases both services, which handle an order over the configured stream and store', async () => {
      for (const [service, app] of [
        ['order', 'orders'],
        ['payment', 'payments'],
      ]) {
        const { status, output } = await tested.operator.make(`release-${service}`, `APP=${app}`)
        expect(output).to.match(/live: v3\n\nhttp:\/\/127\.0\.0\.1:\d+\/\n$/)
        expect(status).to.equal(0)
        expect(stateOf(app ?? '')).to.deep.include({ version: 3, quantity: 1, states: ['up'] })
      }
      const authorization = bearer(key.key)
      const { status, body } = await post<{ id: string }>(`${urlOf('orders')}/v1/orders`, anOrder, authorization)
      expect(status).to.equal(201)
      const get = async <T>(url: string) => (await send<T>(url, { headers: authorization })).body
      const isPaid = async () =>
        (await get<{ status: string }>(`${urlOf('orders')}/v1/orders/${body.id}`)).status === 'Paid' || undefined
      await eventually(isPaid, `order ${body.id} to be Paid`)
      const payments = `${urlOf('payments')}/v1/payments?orderId=${body.id}`
      expect((await get<{ items: object[] }>(payments)).items).to.have.length(1)
    })

    it('sends the traces of services and sidecars to the configured collector, with its key', async () => {
      const all = () => tested.collector.received().map(({ text }) => text)
      const said = [
        'order-service',
        'order-sidecar',
        'payment-service',
        'payment-sidecar',
        'POST /v1/orders',
        'process paymentevents',
      ]
      await eventually(() => said.every((what) => all().some((text) => text.includes(what))), 'the traces')
      for (const { headers } of tested.collector.received())
        expect(headers).to.include({ 'api-key': 'of-the-collector' })
      for (const secret of [anOrder.customerName, anOrder.customerTaxId, key.key]) {
        expect(all().some((text) => text.includes(secret))).to.equal(false)
      }
      const { body } = await send<object>(`${urlOf('orders')}/openapi.json`)
      expect(body).not.to.have.property('externalDocs')
    })

    it('releases closed services, which accept only a key, or a token of the issuer with the right scopes', async () => {
      const orders = `${urlOf('orders')}/v1/orders`
      const statusOf = async (headers: Record<string, string>) => (await post(orders, anOrder, headers)).status
      expect(await statusOf({})).to.equal(401)
      expect(await statusOf(bearer(createApiKey({ name: 'test', scopes, tenant: '' }, new Date()).key))).to.equal(401)
      const token = await tokenOf(tested.signIn.issuer, tested.rehearsal.machine, 'orders:read orders:write')
      expect(await statusOf(bearer(token))).to.equal(201)
      expect(await statusOf(bearer(`${token.slice(0, -8)}AAAAAAAA`))).to.equal(401)
      expect(
        await statusOf(bearer(await tokenOf(tested.signIn.issuer, tested.rehearsal.machine, 'orders:read'))),
      ).to.equal(403)
      expect((await send(`${urlOf('payments')}/v1/payments`, { headers: bearer(token) })).status).to.equal(403)
    })

    it('runs the pushed image with the configured settings, as the platform does', async () => {
      const { digest, configVars } = stateOf('orders')
      const name = `orderflow-rehearsal-${process.pid}-orders-web.1`
      const [id = ''] = (await docker(['ps', '--quiet', '--filter', `name=${name}`])).split('\n')
      const [container] = JSON.parse(await docker(['inspect', id]))
      expect(container.Image).to.equal(digest)
      expect(container.Config.Image).to.match(/^localhost:\d+\/orders\/web@sha256:/)
      for (const [name, value] of Object.entries(configVars ?? {})) {
        expect(container.Config.Env).to.include(`${name}=${value}`)
      }
      const vars = JSON.parse(
        readFileSync(join(tested.env.RELEASE_FOLDER ?? '', 'order-service/config-vars.json'), 'utf8'),
      )
      expect(configVars).to.deep.equal(vars)
    })

    it('releases the checked image, even if another image gets the same name before the push', async () => {
      const name = `${tested.env.PLATFORM_REGISTRY}/renamed/web`
      let checked = ''
      tested.interfere = async ({ method, path }, _response, next) => {
        if (method === 'PATCH' && path.endsWith('/config-vars')) {
          checked = (await docker(['image', 'inspect', '--format', '{{.Id}}', name])).trim()
          await docker(['tag', images.node, name])
        }
        next()
      }
      const { status, output } = await tested.operator.make('release-order', 'APP=renamed')
      expect(status, output).to.equal(0)
      expect(checked).to.match(/^sha256:/)
      expect(stateOf('renamed')).to.deep.include({ digest: checked, states: ['up'] })
      await tested.operator.orderflow('stop', 'order', '--app', 'renamed')
    })

    it('changes nothing when the same state is released again', async () => {
      const { output } = await tested.operator.make('release-order', 'APP=orders')
      expect(output)
        .to.match(/config vars: no change/)
        .and.match(/release: unchanged/)
        .and.match(/live: v3/)
      expect(stateOf('orders').version).to.equal(3)
    })

    it('refuses to release a service to the other service’s app', async () => {
      const { output } = await tested.operator.make('release-payment', 'APP=orders')
      expect(output).to.include('error: orders is the app of order-service; every service needs its own app')
    })

    it('lists, stops, starts and opens an app, and follows its log', async () => {
      expect((await tested.operator.orderflow('ps', 'order', '--app', 'orders')).output).to.match(/^web\.1 +up +v3 /)
      expect((await tested.operator.orderflow('open', 'order', '--app', 'orders')).output).to.equal(
        `${urlOf('orders')}/\n`,
      )
      await tested.operator.orderflow('stop', 'order', '--app', 'orders')
      await eventually(() => stateOf('orders').states.every((state) => state === 'down'), 'stopped')
      await tested.operator.orderflow('start', 'order', '--app', 'orders')
      await eventually(() => stateOf('orders').states.includes('up'), 'started')
      const stopAt = /State changed from starting to up/
      const { output } = await tested.operator.orderflowWith({ stopAt }, 'app-logs', 'order', '--app', 'orders')
      expect(output).to.match(/app\[web\.1\]: /)
    })

    it('retries if the platform fails or limits requests', async () => {
      const answers = [503, 429, 500]
      tested.interfere = (_request, response, next) => {
        const status = answers.shift()
        if (status) response.status(status).set('Retry-After', '0').json({ id: 'x', message: 'x' })
        else next()
      }
      const { status, output } = await tested.operator.make('release-order', 'APP=orders')
      expect(status).to.equal(0)
      expect(output).to.match(/waiting: .* answered 503/)
    })

    it('reports the failure, the changes and the command to roll back if the released app does not start', async () => {
      const vars = { Stream__SaslPassword: 'not-the-password' }
      const { status, output } = await tested.operator.makeWith({ env: vars }, 'release-order', 'APP=orders')
      expect(status).to.equal(2)
      expect(output).to.match(/~ Stream__SaslPassword = \*\*\* -> \*\*\*/)
      expect(output).to.match(/error: the web process of v4 crashed; the last lines of its log:/)
      expect(output).to.include('changed so far: config vars, image')
      expect(output).to.match(
        /next: .\/orderflow app-logs order .*\n +.\/orderflow release order .* .\/orderflow rollback order --app orders undoes it/,
      )
    })

    it('rolls back to the previous release, but not to a release before that', async () => {
      const { status, output } = await tested.operator.make('rollback-order', 'APP=orders')
      expect(output)
        .to.match(/release: v5 with the previous image and config vars/)
        .and.match(/live: v5/)
      expect(status).to.equal(0)
      expect(stateOf('orders').configVars).to.include({ Stream__SaslPassword: tested.env.Stream__SaslPassword })
      expect(await (await fetch(`${urlOf('orders')}/readyz`)).json()).to.deep.equal({ status: 'ready' })
      expect((await tested.operator.make('rollback-order', 'APP=orders')).output).to.include(
        'this folder has no release of orders',
      )
    })

    it('hides secrets even while debugging is switched on', async () => {
      const debug = { DEBUG: '*', NODE_DEBUG: 'http,https,net,tls,stream,fetch,undici' }
      const { output } = await tested.operator.makeWith({ env: debug }, 'release-order', 'APP=orders', 'DRY_RUN=1')
      expect(output).to.include('dry run').and.not.include(tested.env.ACCESS_TOKEN)
    })
  })

  killedReleases(tested)
  otherCommands(tested)
})
