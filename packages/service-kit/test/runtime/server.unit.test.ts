import { createServer, type RequestListener } from 'node:http'
import { connect, createServer as createSocket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { channelTimeouts, listen, publicBounds } from '../../src/runtime/process/listener.ts'
import { openListeners } from '../../src/runtime/process/run.ts'
import { freePort } from './support/free-port.ts'
import { portOf } from './support/port.ts'

function settingsWith(httpPort: number, channelPort = 0, Host = '127.0.0.1') {
  const Web = {
    Host,
    Hosts: '',
    HttpPort: httpPort,
    HttpsPort: 0,
    CertificateFile: '',
    KeyFile: '',
    Proxies: 0,
  }
  return { Web, AppChannel: { Host, Port: channelPort, Token: 'app' }, Metrics: { Host, Port: 0 } }
}
const answer: RequestListener = (_request, response) => response.end('ok')
const app = { web: answer, channel: answer, metrics: answer, backgrounds: [] }

describe('openListeners', () => {
  it('keeps idle connections for more than 90 seconds, which is longer than proxies and the sidecar keep them', async () => {
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

  it('limits the time that a request may take, and checks the limit often', () => {
    for (const limits of [publicBounds, channelTimeouts]) {
      expect(limits.headersTimeout).to.be.at.most(limits.requestTimeout)
      expect(limits.connectionsCheckingInterval).to.be.below(limits.headersTimeout)
    }
  })

  it('answers 408 to a request with slow headers or a slow body, and closes its connection', async () => {
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

  it('names the setting of a port that is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => other.once('listening', resolve))
    const failure = await openListeners(app, settingsWith(portOf(other))).catch(String)
    other.close()
    expect(failure).to.contain('on 127.0.0.1 is in use: stop the program that uses it, or set Web__HttpPort')
  })

  it('closes the other listeners if one listener cannot be opened', async () => {
    const other = createServer()
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done))
    const webPort = await freePort()
    const failure = await openListeners(app, settingsWith(webPort, portOf(other))).catch(String)
    other.close()
    expect(failure).to.contain('or set AppChannel__Port')
    expect(await fetch(`http://127.0.0.1:${webPort}`).catch((error) => error.cause.code)).to.equal('ECONNREFUSED')
  })

  describe('listeners on localhost', () => {
    const loopbacks = ['127.0.0.1', '[::1]']
    const statusAt = (host: string, port: number) =>
      fetch(`http://${host}:${port}`).then(
        ({ status }) => status,
        (error) => error.cause.code,
      )
    const statuses = (port: number) => Promise.all(loopbacks.map((host) => statusAt(host, port)))

    it('answers on the same port of both loopback addresses, and closes both', async () => {
      const listeners = await openListeners(app, settingsWith(0, 0, 'localhost'))
      const ports = listeners.map(({ server }) => portOf(server))
      const before = await Promise.all(ports.map(statuses))
      await Promise.all(listeners.map(({ drain }) => drain()))
      const after = await Promise.all(ports.map(statuses))
      expect(before).to.deep.equal(ports.map(() => [200, 200]))
      expect(after).to.deep.equal(ports.map(() => ['ECONNREFUSED', 'ECONNREFUSED']))
    })

    it('answers a request on ::1 before the listener closes', async () => {
      let finish = () => {}
      let begun = () => {}
      const isBegun = new Promise<void>((resolve) => (begun = resolve))
      const slow: RequestListener = (_request, response) => {
        finish = () => response.end('done')
        begun()
      }
      const address = { host: 'localhost', port: 0, variable: 'Web__HttpPort' }
      const { server, drain } = await listen(slow, publicBounds, address)
      const answered = fetch(`http://[::1]:${portOf(server)}`)
      await Promise.race([isBegun, answered])
      const drained = drain()
      finish()
      const response = await answered
      expect(response.headers.get('connection')).to.equal('close')
      expect(await response.text()).to.equal('done')
      await drained
    })

    it('counts the connections of both loopback addresses together', async () => {
      const address = { host: 'localhost', port: 0, variable: 'Web__HttpPort' }
      const { server, drain } = await listen(answer, { ...publicBounds, maxConnections: 1 }, address)
      const first = connect(portOf(server), '127.0.0.1')
      const closed = new Promise((resolve) => first.once('close', resolve))
      await new Promise((resolve) => server.once('connection', resolve))
      expect(await statusAt('[::1]', portOf(server))).to.equal(200)
      await closed
      await drain()
    })

    for (const [other, free] of [
      ['127.0.0.1', '::1'],
      ['::1', '127.0.0.1'],
    ] as const) {
      it(`names the address and the setting if a port is in use only on ${other}, and closes the listener on ${free}`, async () => {
        const taken = createSocket()
        await new Promise<void>((done) => taken.listen(0, other, done))
        const { port } = taken.address() as { port: number }
        const failure = await openListeners(app, settingsWith(port, 0, 'localhost')).catch(String)
        const rest = await statusAt(free === '::1' ? '[::1]' : free, port)
        taken.close()
        expect(failure).to.contain(
          `port ${port} on ${other} is in use: stop the program that uses it, or set Web__HttpPort`,
        )
        expect(rest).to.equal('ECONNREFUSED')
      })
    }
  })

  it('ignores an address that is missing on this machine, such as ::1 without IPv6', async () => {
    // No machine has this address, because RFC 3849 reserves it for documentation.
    const absent = '2001:db8::1'
    const address = { host: 'localhost', port: 0, variable: 'Web__HttpPort' }
    for (const hosts of [
      ['127.0.0.1', absent],
      [absent, '127.0.0.1'],
    ]) {
      const { server, drain } = await listen(answer, publicBounds, address, hosts)
      const { status } = await fetch(`http://127.0.0.1:${portOf(server)}`)
      await drain()
      expect(status).to.equal(200)
    }
    const failure = await listen(answer, publicBounds, address, [absent]).catch(({ code }) => code)
    expect(failure).to.equal('EADDRNOTAVAIL')
  })
})
