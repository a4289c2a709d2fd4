import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { generate } from 'selfsigned'
import { busyClient } from './support/busy-client.ts'

const tinyService = join(import.meta.dirname, 'support/tiny-service.ts')
/** The number of clients. With many more clients, some would send their next request too late, and the service would treat them as idle. */
const clients = 32

describe('a service that receives SIGTERM', () => {
  let folder: string
  let service: ChildProcessByStdio<null, Readable, Readable>
  let complaint: Promise<string>
  let urls: Record<'http' | 'https' | 'channel', string>
  let sidecar: Server
  let sidecarRequests: string[]

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'shutdown-'))
    const { cert, private: key } = await generate(undefined, { keyType: 'ec' })
    writeFileSync(join(folder, 'localhost.crt'), cert)
    writeFileSync(join(folder, 'localhost.key'), key)
    sidecar = createServer(({ method, url, headers }, response) => {
      sidecarRequests.push(`${method} ${url} ${headers['dapr-api-token']}`)
      response.writeHead(204).end()
    }).listen(0, '127.0.0.1')
    await once(sidecar, 'listening')
  })
  after(() => {
    sidecar.close()
    rmSync(folder, { recursive: true })
  })
  afterEach(() => service.kill('SIGKILL'))

  beforeEach(() => start())

  async function start(...stalled: string[]): Promise<void> {
    sidecarRequests = []
    const [CertificateFile, KeyFile] = [join(folder, 'localhost.crt'), join(folder, 'localhost.key')]
    const Host = 'localhost'
    // With port 0, the system chooses a free port.
    const settings = {
      Web: { Host, HttpPort: 0, HttpsPort: 0, CertificateFile, KeyFile },
      Auth: { Mode: 'loopback' },
      AppChannel: { Host, Port: 0 },
      Metrics: { Host, Port: 0 },
      Sidecar: { Host: '127.0.0.1', HttpPort: (sidecar.address() as AddressInfo).port, Token: 'dapr-token' },
    }
    const args = [tinyService, JSON.stringify(settings), ...stalled]
    service = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    complaint = text(service.stderr)
    const { http, https, channel } = JSON.parse(await told('"up"'))
    urls = {
      http: `http://127.0.0.1:${http}`,
      https: `https://127.0.0.1:${https}`,
      channel: `http://127.0.0.1:${channel}`,
    }
  }

  /** Reads the service's output until a line contains these words, and returns this line. */
  async function told(words: string): Promise<string> {
    for await (const line of createInterface({ input: service.stdout })) if (line.includes(words)) return line
    throw new Error(`it ended without ${words}, by ${service.signalCode ?? service.exitCode}: ${await complaint}`)
  }

  /** Stops the service, and returns its exit status: 0, or 1 if it gave up after nine seconds. */
  async function stop(): Promise<number | null> {
    const ended = once(service, 'exit')
    service.kill('SIGTERM')
    const [status] = await ended
    return status
  }

  for (const listener of ['http', 'https', 'channel'] as const) {
    it(`answers all requests of ${clients} busy connections on ${listener}, half of them on ::1, and then ends`, async () => {
      const busy = Array.from({ length: clients }, (_, index) =>
        busyClient(index % 2 === 0 ? urls[listener] : urls[listener].replace('127.0.0.1', '[::1]')),
      )
      while (busy.some(({ answered }) => answered < 5)) await delay(20)
      const status = await stop()
      const ends = await Promise.all(busy.map(({ end }) => end))
      // Each client ends when its new connection is refused. Its last request was therefore not sent, so a proxy could send this request to another
      // replica.
      expect(ends.filter((end) => end !== 'ECONNREFUSED')).to.deep.equal([])
      expect(status).to.equal(0)
    })
  }

  it('ends even if connections are silent or idle', async () => {
    const silent = connect(Number(new URL(urls.http).port), '127.0.0.1')
    const idle = connect(Number(new URL(urls.https).port), '127.0.0.1')
    for (const socket of [silent, idle]) socket.on('error', () => {})
    await (await fetch(urls.http)).text()
    const status = await stop()
    for (const socket of [silent, idle]) socket.destroy()
    expect(status).to.equal(0)
  })

  it('completes a request that began before the stop, and adds `Connection: close` to the answer', async () => {
    const slow = fetch(`${urls.http}/slow`)
    await told('"begun"')
    const stopped = stop()
    const response = await slow
    expect(await response.text()).to.equal('ok')
    expect(response.headers.get('connection')).to.equal('close')
    expect(await stopped).to.equal(0)
  })

  it('leaves its sidecar alone', async () => {
    expect(await stop()).to.equal(0)
    expect(sidecarRequests).to.deep.equal([])
  })

  describe('if its subscription has stalled', () => {
    beforeEach(async () => {
      service.kill('SIGKILL')
      await start('nothing is delivered')
    })

    it('ends its sidecar, too, after its last answer', async () => {
      const slow = fetch(`${urls.http}/slow`)
      await told('"begun"')
      const stopped = stop()
      expect(await (await slow).text()).to.equal('ok')
      expect(await stopped).to.equal(0)
      expect(sidecarRequests).to.deep.equal(['POST /v1.0/shutdown dapr-token'])
    })

    it('ends even if its sidecar does not answer', async () => {
      const [answer] = sidecar.listeners('request') as (() => void)[]
      sidecar.removeAllListeners('request')
      const begun = performance.now()
      expect(await stop()).to.equal(0)
      expect(performance.now() - begun).to.be.below(3_000)
      sidecar.on('request', answer as () => void)
    })
  })
})
