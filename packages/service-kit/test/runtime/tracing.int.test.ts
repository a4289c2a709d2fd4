import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { freePort } from './support/free-port.ts'
import { portOf } from './support/port.ts'

const tracedService = join(import.meta.dirname, 'support/traced-service.ts')
/** The folder with the service's settings. The test replaces the ports. */
const folder = join(import.meta.dirname, '../../../event-gateway')

async function listening(answer: RequestListener = () => {}): Promise<Server> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

describe('a service with a collector of traces', () => {
  let service: ChildProcessByStdio<null, Readable, Readable>
  let output: Promise<string>
  afterEach(() => service.kill('SIGKILL'))

  /** Starts the service, sends a request to it, and stops it after `lingerMs`. Returns how long the stop took. */
  async function serveOne(variables: Record<string, string>, lingerMs = 0): Promise<number> {
    const [http, channel, metrics] = [await freePort(), await freePort(), await freePort()]
    const env = {
      PATH: process.env.PATH,
      APP_API_TOKEN: 'app',
      DAPR_API_TOKEN: 'dapr',
      Web__HttpPort: String(http),
      AppChannel__Port: String(channel),
      Metrics__Port: String(metrics),
      OTEL_TRACES_SAMPLER: 'always_on',
      ...variables,
    }
    service = spawn(process.execPath, [tracedService, folder], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    output = Promise.all([text(service.stdout), text(service.stderr)]).then((texts) => texts.join(''))
    const ended = once(service, 'exit')
    while (!(await fetch(`http://127.0.0.1:${http}/livez`).catch(() => undefined))?.ok) {
      if (service.exitCode !== null || service.signalCode) throw new Error(await output)
    }
    expect((await fetch(`http://127.0.0.1:${http}/v1/things`)).status).to.equal(200)
    await delay(lingerMs)
    const stoppedAt = performance.now()
    service.kill('SIGTERM')
    const [code] = await ended
    expect(code, await output).to.equal(0)
    return performance.now() - stoppedAt
  }

  it('sends all spans before it ends, with the key that the collector requires', async () => {
    const received: { path: string | undefined; key: unknown; body: string }[] = []
    const collector = await listening(async (request, response) => {
      const { url: path, headers } = request
      received.push({ path, key: headers['api-key'], body: (await buffer(request)).toString('latin1') })
      response.end()
    })
    await serveOne({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${portOf(collector)}`,
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a-secret',
    })
    collector.closeAllConnections()
    collector.close()
    expect(received.map(({ path, key }) => [path, key])).to.deep.equal([['/v1/traces', 'a-secret']])
    expect(received[0]?.body).to.contain('GET /v1/things').and.contain('event-gateway')
    expect(await output).not.to.contain('a-secret')
  })

  it('ends in time even if the collector does not answer', async () => {
    const collector = await listening()
    const took = await serveOne({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${portOf(collector)}` })
    collector.closeAllConnections()
    collector.close()
    expect(took).to.be.at.least(900)
  })

  it('continues to work if the collector is unreachable, and logs a warning', async () => {
    const away = `http://127.0.0.1:${await freePort()}`
    const soon = { OTEL_BSP_SCHEDULE_DELAY: '1', OTEL_EXPORTER_OTLP_TIMEOUT: '100' }
    await serveOne({ OTEL_EXPORTER_OTLP_ENDPOINT: away, ...soon }, 1_000)
    const told = (await output).split('\n').filter((line) => line.includes('did not accept spans'))
    expect(told).to.have.lengthOf(1)
    expect(told[0]).not.to.contain('traceId')
  })

  it('refuses to start if the collector’s address is invalid, and names the setting', async () => {
    const failure = await serveOne({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' }).catch((error: Error) => error.message)
    expect(failure).to.contain('  - OTEL_EXPORTER_OTLP_ENDPOINT: must be a URL of http or https, such as http')
  })
})
