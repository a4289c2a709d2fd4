import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { freePort } from './support/free-port.ts'
import { portOf } from './support/port.ts'

const program = join(import.meta.dirname, 'support/traced-service.ts')
/** The folder with the service's settings. The test replaces the ports. */
const folder = join(import.meta.dirname, '../../../event-gateway')

/** Unsigned. Only its form must be right, because the service fetches the issuer's keys before it checks the signature. */
const token = [{ alg: 'RS256', kid: 'a' }, { iss: 'https://issuer.example' }, {}]
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .join('.')

describe('a service whose environment names a proxy', () => {
  let service: ChildProcessByStdio<null, null, Readable>
  let sidecar: Server
  let proxy: Server
  let asked: string[]
  let url: string
  beforeEach(async () => {
    asked = []
    sidecar = createServer((_request, response) => response.writeHead(204).end()).listen(0, '127.0.0.1')
    proxy = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.writeHead(502).end()
    })
    proxy.on('connect', (request, socket) => {
      asked.push(request.url ?? '')
      socket.destroy()
    })
    proxy.listen(0, '127.0.0.1')
    await Promise.all([once(sidecar, 'listening'), once(proxy, 'listening')])
  })
  afterEach(() => {
    service?.kill('SIGKILL')
    for (const server of [sidecar, proxy]) server?.close()
  })

  async function start(variables: Record<string, string>) {
    const ports = [await freePort(), await freePort(), await freePort()]
    const [http, channel, metrics] = ports.map(String) as [string, string, string]
    const env = {
      PATH: process.env.PATH,
      APP_API_TOKEN: 'app',
      DAPR_API_TOKEN: 'dapr',
      Web__HttpPort: http,
      AppChannel__Port: channel,
      Metrics__Port: metrics,
      Sidecar__HttpPort: String(portOf(sidecar)),
      NODE_USE_ENV_PROXY: '1',
      ...variables,
    }
    service = spawn(process.execPath, [program, folder], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    url = `http://127.0.0.1:${http}`
    while (!(await fetch(`${url}/livez`).catch(() => undefined))?.ok) {
      if (service.exitCode !== null) throw new Error(service.stderr.read()?.toString())
      await delay(20)
    }
  }
  const proxyUrl = () => `http://127.0.0.1:${portOf(proxy)}`

  for (const [name, exceptions] of [
    ['http_proxy', {}],
    ['HTTP_PROXY', { NO_PROXY: 'corp.example' }],
  ] as const) {
    it(`reaches its sidecar directly with ${[name, ...Object.keys(exceptions)].join(' and ')}`, async () => {
      await start({ [name]: proxyUrl(), ...exceptions })
      const { missing } = (await (await fetch(`${url}/readyz`)).json()) as { missing: Record<string, string> }
      expect(missing).not.to.have.property('sidecar')
      expect(asked).to.deep.equal([])
    })
  }

  it('asks the proxy for an issuer outside of the machine', async () => {
    await start({
      https_proxy: proxyUrl(),
      Auth__Mode: 'closed',
      Auth__Issuer: 'https://issuer.example',
      Auth__Audience: 'things',
    })
    await fetch(`${url}/v1/things`, { headers: { authorization: `Bearer ${token}` } })
    expect(new Set(asked)).to.deep.equal(new Set(['issuer.example:443']))
  })
})
