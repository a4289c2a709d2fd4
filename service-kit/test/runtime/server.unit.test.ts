import { createServer, type RequestListener } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { channelTimeouts, listen, publicBounds } from '../../src/runtime/listener.ts'
import { openListeners } from '../../src/runtime/server.ts'
import { freePort } from './support/free-port.ts'
import { portOf } from './support/port.ts'

function settingsWith(httpPort: number, channelPort = 0) {
  const Web = {
    Host: '127.0.0.1',
    Hosts: '',
    HttpPort: httpPort,
    HttpsPort: 0,
    CertificateFile: '',
    KeyFile: '',
    Proxies: 0,
  }
  const Host = '127.0.0.1'
  return { Web, AppChannel: { Host, Port: channelPort, Token: 'app' }, Metrics: { Host, Port: 0 } }
}
const answer: RequestListener = (_request, response) => response.end('ok')
const app = { web: answer, channel: answer, metrics: answer }

describe('the listeners', () => {
  it('keep idle connections for longer than proxies and the sidecar do, who say so to the client', async () => {
    const listeners = await openListeners(app, settingsWith(0))
    expect(listeners).to.have.lengthOf(3)
    for (const { server, drain } of listeners) {
      const response = await fetch(`http://127.0.0.1:${portOf(server)}`)
      await response.text()
      const [, seconds] = /timeout=(\d+)/.exec(response.headers.get('keep-alive') ?? '') ?? []
      expect(Number(seconds)).to.be.above(90)
      await drain()
    }
  })

  it('have limits for requests that do not arrive, and look for them often enough', () => {
    for (const limits of [publicBounds, channelTimeouts]) {
      expect(limits.headersTimeout).to.be.at.most(limits.requestTimeout)
      expect(limits.connectionsCheckingInterval).to.be.below(limits.headersTimeout)
    }
  })

  it('answer 408 and close when headers or a body come too slowly', async () => {
    const limits = { headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 20 }
    const never: RequestListener = (request, response) => request.on('end', () => response.end()).resume()
    const { server, drain } = await listen(never, limits, { host: '127.0.0.1', port: 0, variable: 'Web__HttpPort' })
    for (const begun of ['GET / HT', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{']) {
      const socket = connect(portOf(server), '127.0.0.1')
      socket.write(begun)
      expect(await text(socket)).to.match(/^HTTP\/1.1 408 .*Connection: close/s)
    }
    await drain()
  })

  it('name the setting to change when a port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const failure = await openListeners(app, settingsWith(portOf(other))).catch(String)
    other.close()
    expect(failure).to.contain('is in use: stop what listens there, or set Web__HttpPort')
  })

  it('are closed again when one of them cannot be opened', async () => {
    const other = createServer()
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done))
    const webPort = await freePort()
    const failure = await openListeners(app, settingsWith(webPort, portOf(other))).catch(String)
    other.close()
    expect(failure).to.contain('or set AppChannel__Port')
    expect(await fetch(`http://127.0.0.1:${webPort}`).catch((error) => error.cause.code)).to.equal('ECONNREFUSED')
  })
})
