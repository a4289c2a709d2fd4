import type { IncomingMessage } from 'node:http'
import { request as secureRequest } from 'node:https'
import { json } from 'node:stream/consumers'
import { createApiKey } from '@orderflow/service-kit/setup'
import { testFolder } from '@orderflow/stack/base'
import {
  createOperator,
  type Rehearsal,
  type RehearsalOptions,
  startRehearsal,
  temporaryFolder,
} from '@orderflow/stack/rehearsal'
import { expect } from 'chai'
import { programClient, type SignIn, startSignIn } from '../../support/web/sign-in.ts'
import { collectTraces } from '../../support/web/trace-collector.ts'

export const killed = ['kill-1', 'kill-2', 'kill-3', 'kill-4', 'kill-5', 'kill-6', 'kill-7', 'kill-8']
const containerApps = ['orders', 'payments', 'by-hand', 'renamed', ...killed]
const apps = { ...Object.fromEntries(containerApps.map((name) => [name, 'container'])), legacy: 'heroku-24' }

export const scopes = ['orders:read', 'orders:write', 'payments:read']
export const key = createApiKey({ name: 'test', scopes, tenant: '' }, new Date())
export const bearer = (credential: string) => ({ authorization: `Bearer ${credential}` })
const program = { id: 'shop', secret: 'a secret of a test' }

/** A platform with a registry, Kafka and a store, and an operator who releases to it. */
interface Rehearsed {
  rehearsal: Rehearsal
  signIn: SignIn
  collector: Awaited<ReturnType<typeof collectTraces>>
  operator: ReturnType<typeof createOperator>
  env: Record<string, string>
  /** Answers the requests to the platform in a test. */
  interfere: RehearsalOptions['interfere']
}

/** Starts the platform before the tests of a suite. */
export function rehearse() {
  const tested = {} as Rehearsed
  before(async () => {
    const folder = testFolder('release')
    tested.rehearsal = await startRehearsal({
      folder,
      apps,
      onProgress: () => {},
      interfere: (request, response, next) => (tested.interfere ? tested.interfere(request, response, next) : next()),
    })
    const client = programClient(program.id, program.secret)
    const { machine } = tested.rehearsal
    tested.signIn = await startSignIn({ client, audience: 'orderflow', scopes, at: machine })
    tested.collector = await collectTraces(machine)
    tested.env = {
      ...tested.rehearsal.env,
      ...tested.collector.variables,
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=of-the-collector',
      Auth__Issuer: tested.signIn.issuer,
      Auth__Audience: 'orderflow',
      Auth__ApiKeys: JSON.stringify([key.record]),
      RELEASE_FOLDER: temporaryFolder(),
    }
    tested.operator = createOperator(tested.env)
  })
  after(async () => {
    await tested.rehearsal?.close()
    await tested.signIn?.stop()
    tested.collector?.close()
  })
  afterEach(() => {
    tested.interfere = undefined
  })

  const stateOf = (name: string) => {
    const app = tested.rehearsal.platform.app(name)
    const { version, image, configVars } = app.releases.at(-1) ?? {}
    const states = app.dynos.map(({ state }) => state)
    return { version, digest: image?.digest, configVars, quantity: app.quantity, states }
  }
  const urlOf = (name: string) => tested.rehearsal.platform.app(name).webUrl.replace(/\/$/, '')
  const login = () =>
    tested.operator.bash('printenv ACCESS_TOKEN | docker login --username=_ --password-stdin "$PLATFORM_REGISTRY"')
  return Object.assign(tested, { stateOf, urlOf, login })
}

export type Tested = ReturnType<typeof rehearse>

export type Match = (request: { method: string; path: string }) => boolean

/** Requests a token from the issuer, as a program does (RFC 6749, section 4.4). */
export async function tokenOf(issuer: string, { address, name, certificate }: Rehearsal['machine'], scope: string) {
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
