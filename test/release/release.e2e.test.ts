import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request as secureRequest } from 'node:https'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { anOrder, post, send } from '@orderflow/chaos/clients/api'
import { createApiKey } from '@orderflow/service-kit/api-keys'
import { eventually, testFolder } from '@orderflow/stack/base'
import { partitions } from '@orderflow/stack/internals'
import { images } from '@orderflow/stack/machine'
import {
  createOperator,
  docker,
  type Rehearsal,
  type RehearsalOptions,
  startRehearsal,
  temporaryFolder,
} from '@orderflow/stack/rehearsal'
import { expect } from 'chai'
import { describeInContainers } from '../containers/available.ts'
import { programClient, type SignIn, startSignIn } from '../support/web/sign-in.ts'
import { collectTraces } from '../support/web/trace-collector.ts'
import { herokuHosts } from './support/heroku-hosts.ts'
import { herokuTool } from './support/heroku-tool.ts'

const killed = ['kill-1', 'kill-2', 'kill-3', 'kill-4', 'kill-5', 'kill-6', 'kill-7', 'kill-8']
const containerApps = ['orders', 'payments', 'by-hand', 'renamed', ...killed]
const apps = { ...Object.fromEntries(containerApps.map((name) => [name, 'container'])), legacy: 'heroku-24' }

const scopes = ['orders:read', 'orders:write', 'payments:read']
const key = createApiKey({ name: 'test', scopes, tenant: '' }, new Date())
const bearer = (credential: string) => ({ authorization: `Bearer ${credential}` })
const program = { id: 'shop', secret: 'a secret of a test' }

describeInContainers('releases on a real registry with real containers', function () {
  this.timeout(600_000)
  let rehearsal: Rehearsal
  let signIn: SignIn
  let collector: Awaited<ReturnType<typeof collectTraces>>
  let operator: ReturnType<typeof createOperator>
  let env: Record<string, string>
  let interfere: RehearsalOptions['interfere']

  before(async () => {
    const folder = testFolder('release')
    rehearsal = await startRehearsal({
      folder,
      apps,
      onProgress: () => {},
      interfere: (request, response, next) => (interfere ? interfere(request, response, next) : next()),
    })
    const client = programClient(program.id, program.secret)
    signIn = await startSignIn({ client, audience: 'orderflow', scopes, at: rehearsal.machine })
    collector = await collectTraces(rehearsal.machine)
    env = {
      ...rehearsal.env,
      ...collector.variables,
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=of-the-collector',
      Auth__Issuer: signIn.issuer,
      Auth__Audience: 'orderflow',
      Auth__ApiKeys: JSON.stringify([key.record]),
      RELEASE_FOLDER: temporaryFolder(),
    }
    operator = createOperator(env)
  })
  after(async () => {
    await rehearsal?.close()
    await signIn?.stop()
    collector?.close()
  })
  afterEach(() => {
    interfere = undefined
  })

  const stateOf = (name: string) => {
    const app = rehearsal.platform.app(name)
    const { version, image, configVars } = app.releases.at(-1) ?? {}
    const states = app.dynos.map(({ state }) => state)
    return { version, digest: image?.digest, configVars, quantity: app.quantity, states }
  }
  const urlOf = (name: string) => rehearsal.platform.app(name).webUrl.replace(/\/$/, '')
  const login = () =>
    operator.bash('printenv ACCESS_TOKEN | docker login --username=_ --password-stdin "$PLATFORM_REGISTRY"')

  describe('releases before the login', () => {
    it('writes the config vars and the manual steps to files that only their owner can read', async () => {
      const { status, output } = await operator.orderflow('export', 'order')
      expect(output).to.include('next: ./orderflow release order').and.not.include('Add these values')
      expect(status).to.equal(0)
      const folder = join(env.RELEASE_FOLDER ?? '', 'order-service')
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
        const { status, output } = await operator.makeWith({ env: { APP: 'orders', ...variables } }, 'release-order')
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
        const { status, output } = await operator.make(`release-${service}`, `APP=${app}`, 'DRY_RUN=1')
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
        const { status, output } = await operator.make(`release-${service}`, `APP=${app}`)
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
      const all = () => collector.received().map(({ text }) => text)
      const said = [
        'order-service',
        'order-sidecar',
        'payment-service',
        'payment-sidecar',
        'POST /v1/orders',
        'process paymentevents',
      ]
      await eventually(() => said.every((what) => all().some((text) => text.includes(what))), 'the traces')
      for (const { headers } of collector.received()) expect(headers).to.include({ 'api-key': 'of-the-collector' })
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
      const token = await tokenOf(signIn.issuer, rehearsal.machine, 'orders:read orders:write')
      expect(await statusOf(bearer(token))).to.equal(201)
      expect(await statusOf(bearer(`${token.slice(0, -8)}AAAAAAAA`))).to.equal(401)
      expect(await statusOf(bearer(await tokenOf(signIn.issuer, rehearsal.machine, 'orders:read')))).to.equal(403)
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
      const vars = JSON.parse(readFileSync(join(env.RELEASE_FOLDER ?? '', 'order-service/config-vars.json'), 'utf8'))
      expect(configVars).to.deep.equal(vars)
    })

    it('releases the checked image, even if another image gets the same name before the push', async () => {
      const name = `${env.PLATFORM_REGISTRY}/renamed/web`
      let checked = ''
      interfere = async ({ method, path }, _response, next) => {
        if (method === 'PATCH' && path.endsWith('/config-vars')) {
          checked = (await docker(['image', 'inspect', '--format', '{{.Id}}', name])).trim()
          await docker(['tag', images.node, name])
        }
        next()
      }
      const { status, output } = await operator.make('release-order', 'APP=renamed')
      expect(status, output).to.equal(0)
      expect(checked).to.match(/^sha256:/)
      expect(stateOf('renamed')).to.deep.include({ digest: checked, states: ['up'] })
      await operator.orderflow('stop', 'order', '--app', 'renamed')
    })

    it('changes nothing when the same state is released again', async () => {
      const { output } = await operator.make('release-order', 'APP=orders')
      expect(output)
        .to.match(/config vars: no change/)
        .and.match(/release: unchanged/)
        .and.match(/live: v3/)
      expect(stateOf('orders').version).to.equal(3)
    })

    it('refuses to release a service to the other service’s app', async () => {
      const { output } = await operator.make('release-payment', 'APP=orders')
      expect(output).to.include('error: orders is the app of order-service; every service needs its own app')
    })

    it('lists, stops, starts and opens an app, and follows its log', async () => {
      expect((await operator.orderflow('ps', 'order', '--app', 'orders')).output).to.match(/^web\.1 +up +v3 /)
      expect((await operator.orderflow('open', 'order', '--app', 'orders')).output).to.equal(`${urlOf('orders')}/\n`)
      await operator.orderflow('stop', 'order', '--app', 'orders')
      await eventually(() => stateOf('orders').states.every((state) => state === 'down'), 'stopped')
      await operator.orderflow('start', 'order', '--app', 'orders')
      await eventually(() => stateOf('orders').states.includes('up'), 'started')
      const stopAt = /State changed from starting to up/
      const { output } = await operator.orderflowWith({ stopAt }, 'app-logs', 'order', '--app', 'orders')
      expect(output).to.match(/app\[web\.1\]: /)
    })

    it('retries if the platform fails or limits requests', async () => {
      const answers = [503, 429, 500]
      interfere = (_request, response, next) => {
        const status = answers.shift()
        if (status) response.status(status).set('Retry-After', '0').json({ id: 'x', message: 'x' })
        else next()
      }
      const { status, output } = await operator.make('release-order', 'APP=orders')
      expect(status).to.equal(0)
      expect(output).to.match(/waiting: .* answered 503/)
    })

    it('reports the failure, the changes and the command to roll back if the released app does not start', async () => {
      const vars = { Stream__SaslPassword: 'not-the-password' }
      const { status, output } = await operator.makeWith({ env: vars }, 'release-order', 'APP=orders')
      expect(status).to.equal(2)
      expect(output).to.match(/~ Stream__SaslPassword = \*\*\* -> \*\*\*/)
      expect(output).to.match(/error: the web process of v4 crashed; the last lines of its log:/)
      expect(output).to.include('changed so far: config vars, image')
      expect(output).to.match(
        /next: .\/orderflow app-logs order .*\n +.\/orderflow release order .* .\/orderflow rollback order --app orders undoes it/,
      )
    })

    it('rolls back to the previous release, but not to a release before that', async () => {
      const { status, output } = await operator.make('rollback-order', 'APP=orders')
      expect(output)
        .to.match(/release: v5 with the previous image and config vars/)
        .and.match(/live: v5/)
      expect(status).to.equal(0)
      expect(stateOf('orders').configVars).to.include({ Stream__SaslPassword: env.Stream__SaslPassword })
      expect(await (await fetch(`${urlOf('orders')}/readyz`)).json()).to.deep.equal({ status: 'ready' })
      expect((await operator.make('rollback-order', 'APP=orders')).output).to.include(
        'this folder has no release of orders',
      )
    })

    it('hides secrets even while debugging is switched on', async () => {
      const debug = { DEBUG: '*', NODE_DEBUG: 'http,https,net,tls,stream,fetch,undici' }
      const { output } = await operator.makeWith({ env: debug }, 'release-order', 'APP=orders', 'DRY_RUN=1')
      expect(output).to.include('dry run').and.not.include(env.ACCESS_TOKEN)
    })
  })

  describe('a release killed with -9 and started again', () => {
    const isConfig: Match = ({ method, path }) => method === 'PATCH' && path.endsWith('/config-vars')
    const isFormation: Match = ({ method, path }) => method === 'PATCH' && path.endsWith('/formation')
    const points: [what: string, kill: { killAt?: RegExp; before?: Match; after?: Match }][] = [
      ['while the image is built', { killAt: /image: building/ }],
      ['while the image is tried', { killAt: /not root/ }],
      ['while the image is pushed', { killAt: /image: pushing/ }],
      ['before the config vars are set', { before: isConfig }],
      ['after the config vars were set', { after: isConfig }],
      ['before the image is released', { before: isFormation }],
      ['after the image was released', { after: isFormation }],
      ['while it waits', { before: ({ method, path }) => method === 'GET' && path.endsWith('/dynos') }],
    ]
    for (const [index, [what, { killAt, before, after }]] of points.entries()) {
      it(`ends in the same state and can be undone if it was killed ${what}`, async () => {
        const app = killed[index] ?? ''
        interfere = (request, response, next) => {
          if (before?.(request)) return operator.kill()
          if (!after?.(request)) return next()
          response.json = () => {
            operator.kill()
            return response
          }
          next()
        }
        const first = await operator.makeWith(killAt ? { killAt } : {}, 'release-order', `APP=${app}`)
        expect(first.status).to.equal(null)
        interfere = undefined

        const { status, output } = await operator.make('release-order', `APP=${app}`)
        expect(output).to.match(/live: v3/)
        expect(status).to.equal(0)
        const { digest, configVars } = stateOf('orders')
        expect(stateOf(app)).to.deep.equal({ version: 3, digest, configVars, quantity: 1, states: ['up'] })

        expect((await operator.make('rollback-order', `APP=${app}`)).status).to.equal(0)
        expect(stateOf(app)).to.deep.include({ digest: undefined, configVars: {}, quantity: undefined, states: [] })
      })
    }
  })

  describe('other commands of releases', () => {
    it('creates missing topics, with the settings of the app', async () => {
      const vars = { Stream__Brokers: rehearsal.kafka.bootstrapBrokers.join() }
      const { status, output } = await operator.orderflowWith({ env: vars }, 'release-topics')
      const there = `exists with ${partitions.containers} partitions`
      expect(output).to.match(new RegExp(`^orderevents: ${there}\npaymentevents: ${there}\n`))
      expect(status).to.equal(0)
    })

    it('lets an operator release by hand with the exported instructions', async () => {
      const file = join(env.RELEASE_FOLDER ?? '', 'order-service/instructions.md')
      const steps = readFileSync(file, 'utf8').replaceAll('<app_name>', 'by-hand')
      const blocks = [...steps.replaceAll('<ACCESS_TOKEN>', env.ACCESS_TOKEN ?? '').matchAll(/```sh\n([\s\S]*?)```/g)]
      expect(blocks).to.have.length(10)
      const script = blocks.map(([, block]) => block).join('\n')
      const scriptFile = join(env.RELEASE_FOLDER ?? '', 'by-hand.sh')
      writeFileSync(scriptFile, script, { mode: 0o600 })
      const trusting = { env: { CURL_CA_BUNDLE: env.NODE_EXTRA_CA_CERTS } }
      const { status, output } = await operator.run('bash', ['-euo', 'pipefail', scriptFile], trusting)
      expect(status, output).to.equal(0)
      expect(output).to.include('"logplex_url":"http').and.include('"web_url":"http')
      expect(stateOf('by-hand')).to.include({ digest: stateOf('orders').digest, quantity: 1 })
      await operator.orderflow('stop', 'order', '--app', 'by-hand')
    })

    it('detects a pushed image in OCI format', async () => {
      const pushed = await operator.bash(
        `
        umask 077
        manifests=https://$PLATFORM_REGISTRY/v2/by-hand/web/manifests/latest
        call() { curl -sSf -K <(printenv LOGIN) "$manifests" "$@"; }
        call -H "Accept: application/vnd.docker.distribution.manifest.v2+json" \\
          | sed -e 's/docker.distribution.manifest.v2/oci.image.manifest.v1/' -e 's/docker.container.image.v1/oci.image.config.v1/' \\
            -e 's/docker.image.rootfs.diff.tar.gzip/oci.image.layer.v1.tar+gzip/' >"$RELEASE_FOLDER/manifest.json"
        call -X PUT -H "Content-Type: application/vnd.oci.image.manifest.v1+json" -d "@$RELEASE_FOLDER/manifest.json"`,
        {
          env: { CURL_CA_BUNDLE: env.NODE_EXTRA_CA_CERTS, LOGIN: `user = "_:${env.ACCESS_TOKEN}"` },
        },
      )
      expect(pushed.status, pushed.output).to.equal(0)
      const script = `
        import { createHttp } from './packages/stack/src/release/http.ts'
        import { readOperator } from './packages/stack/src/release/operator.ts'
        import { createRegistry } from './packages/stack/src/release/registry.ts'
        await createRegistry(readOperator({ ...process.env, APP: 'by-hand' }, ''), createHttp()).imageDigest('')`
      const { output } = await operator.run(process.execPath, ['--input-type=module', '-e', script])
      expect(output).to.match(
        /the pushed image is a application\/vnd\.oci\.image\.manifest\.v1\+json; the platform accepts/,
      )
    })

    it('creates apps that the platform’s official tool understands', async () => {
      const hosts = await herokuHosts(join(testFolder('release'), 'heroku'), env)
      const program = await herokuTool()
      // The platform's tool prints config vars without masking.
      const tool = createOperator({ ...env, ...hosts.env })
      const heroku = async (...args: string[]) => {
        const { status, output } = await tool.run(process.execPath, [program, ...args, '--app', 'by-tool'])
        expect(status, `${args.join(' ')}: ${output}`).to.equal(0)
        return output
      }
      try {
        await heroku('create', '--stack', 'container', '--no-remote')
        expect(await heroku('ps')).to.include('No dynos')
        await operator.make('release-order', 'APP=by-tool')
        const { configVars, digest } = stateOf('by-tool')
        const shown = JSON.parse((await heroku('config', '--json')).replace(/^[^{]*/, ''))
        expect(shown).to.deep.equal(configVars)
        expect(await heroku('ps')).to.match(/web\.1: up/)
        expect(await heroku('releases')).to.match(/v3 +Deployed web/)
        expect(await heroku('logs', '--num', '20')).to.match(/app\[web\.1\]/)

        await heroku('config:set', 'Log__Level=warn')
        expect(stateOf('by-tool').configVars).to.include({ Log__Level: 'warn' })
        expect((await operator.make('release-order', 'APP=by-tool')).output).to.include('~ Log__Level = warn -> info')

        expect(await heroku('rollback', 'v4')).to.match(/Rolling back/)
        expect(stateOf('by-tool').configVars).to.include({ Log__Level: 'warn' })
        await heroku('ps:stop', '--dyno-name', 'web.1')
        expect(stateOf('by-tool').states).to.deep.equal(['down'])
        await heroku('container:rm', 'web')
        expect(stateOf('by-tool')).to.include({ digest: undefined, quantity: undefined })
        await heroku('container:release', 'web')
        expect(stateOf('by-tool')).to.include({ digest, quantity: 1 })
        await heroku('ps:scale', 'web=0')
        expect(stateOf('by-tool').quantity).to.equal(0)
      } finally {
        hosts.close()
      }
    })

    it('keeps secrets out of output, arguments, readable files and images', async () => {
      const password = env.Stream__SaslPassword ?? ''
      const secrets = [env.ACCESS_TOKEN ?? '', password, Buffer.from(`_:${env.ACCESS_TOKEN}`).toString('base64')]
      for (const secret of secrets) {
        expect(operator.transcript()).to.not.include(secret)
        expect(operator.processArguments()).to.not.include(secret)
      }
      expect(operator.transcript()).to.include('State__ConnectionString = ***')
      expect(operator.processArguments()).to.include('docker push')

      const folder = env.RELEASE_FOLDER ?? ''
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        const { mode } = statSync(join(folder, name))
        expect(mode & 0o077, name).to.equal(0)
      }

      const image = `${env.PLATFORM_REGISTRY}/orders/web`
      const count = (pattern: string) =>
        operator.bash('docker save "$IMAGE" | grep -a -c -F -f <(printenv PATTERN) || true', {
          env: { IMAGE: image, PATTERN: pattern },
        })
      expect(Number((await count('payment')).output)).to.be.greaterThan(0)
      expect((await count(secrets.join('\n'))).output.trim()).to.equal('0')
    })
  })
})

type Match = (request: { method: string; path: string }) => boolean

/** Requests a token from the issuer, as a program does (RFC 6749, section 4.4). */
async function tokenOf(issuer: string, { address, name, certificate }: Rehearsal['machine'], scope: string) {
  const [{ port }, { id, secret }] = [new URL(issuer), program]
  const credentials = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    // Only containers can resolve the issuer’s host name.
    secureRequest({ host: address, port, servername: name, ca: certificate, path: '/token', method: 'POST' }, resolve)
      .setHeader('Authorization', `Basic ${Buffer.from(credentials).toString('base64')}`)
      .setHeader('Content-Type', 'application/x-www-form-urlencoded')
      .on('error', reject)
      .end(new URLSearchParams({ grant_type: 'client_credentials', scope }).toString())
  })
  const { access_token: token } = (await json(answer)) as { access_token: string }
  expect(token, 'a token').to.be.a('string')
  return token
}
