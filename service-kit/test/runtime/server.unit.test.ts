import { createServer, request, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { drain, openListeners } from '../../src/runtime/server.ts'
import type { BaseSettings } from '../../src/runtime/settings.ts'

const portOf = (server: Server) => (server.address() as AddressInfo).port

function settingsWith(httpPort: number, channelPort = 0): BaseSettings {
  const Web = { Host: '127.0.0.1', HttpPort: httpPort, HttpsPort: 0, CertificateFile: '', KeyFile: '' }
  return { Web, AppChannel: { Host: '127.0.0.1', Port: channelPort, Token: 'app' } } as BaseSettings
}
const answer: Parameters<typeof openListeners>[0]['web'] = (_request, response) => response.end('ok')

describe('the listeners', () => {
  it('keep the sidecar’s idle connections for longer than the sidecar does', async () => {
    const servers = await openListeners({ web: answer, channel: answer }, settingsWith(0))
    const channel = servers[1] as Server
    const response = await fetch(`http://127.0.0.1:${portOf(channel)}`)
    await response.text()
    await Promise.all(servers.map(drain))
    const [, seconds] = /timeout=(\d+)/.exec(response.headers.get('keep-alive') ?? '') ?? []
    expect(Number(seconds)).to.be.above(90)
  })

  it('name the setting to change when a port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const failure = await openListeners({ web: answer, channel: answer }, settingsWith(portOf(other))).catch(String)
    other.close()
    expect(failure).to.contain('is in use: stop what listens there, or set Web__HttpPort')
  })

  it('are closed again when one of them cannot be opened', async () => {
    const [other, free] = [createServer(), createServer()]
    for (const server of [other, free]) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const webPort = portOf(free)
    await new Promise((done) => free.close(done))
    const failure = await openListeners({ web: answer, channel: answer }, settingsWith(webPort, portOf(other))).catch(
      String,
    )
    other.close()
    expect(failure).to.contain('or set AppChannel__Port')
    expect(await fetch(`http://127.0.0.1:${webPort}`).catch((error) => error.cause.code)).to.equal('ECONNREFUSED')
  })
})

describe('draining a listener', () => {
  it('answers the request in flight, closes idle connections and takes no new ones', async () => {
    let finish = () => {}
    const server = createServer((incoming, response) => {
      if (incoming.url === '/slow') finish = () => response.end('done')
      else response.end('ok')
    }).listen(0, '127.0.0.1')
    server.keepAliveTimeout = 95_000
    await new Promise((resolve) => server.once('listening', resolve))
    const url = `http://127.0.0.1:${portOf(server)}`

    const idle = connect(portOf(server), '127.0.0.1')
    idle.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    const idleClosed = text(idle)
    const slow = new Promise<string>((resolve, reject) => {
      request(`${url}/slow`, (response) => resolve(text(response)))
        .on('error', reject)
        .end()
    })
    await delay(50)

    let drained = false
    const draining = drain(server).then(() => {
      drained = true
    })
    expect(await idleClosed).to.match(/^HTTP\/1.1 200 .*ok/s)
    expect(drained).to.equal(false)
    expect(await fetch(url).catch((error: Error) => error.message)).to.equal('fetch failed')
    finish()
    expect(await slow).to.equal('done')
    await draining
  })
})
