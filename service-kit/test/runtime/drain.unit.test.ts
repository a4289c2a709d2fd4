import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { drainable } from '../../src/runtime/drain.ts'

const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

describe('draining a server', () => {
  let server: Server
  let drain: () => Promise<void>
  let finish: () => void

  beforeEach(async () => {
    server = createServer((incoming, response) => {
      if (incoming.url === '/slow') finish = () => response.end('done')
      else response.end('ok')
      if (incoming.url === '/begun') response.flushHeaders()
    })
    server.keepAliveTimeout = 95_000
    drain = drainable(server)
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  })
  afterEach(() => server.closeAllConnections())

  /** A connection that has sent this, and all that it will ever receive. */
  function open(sent: string): { socket: Socket; received: Promise<string> } {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write(sent)
    return { socket, received: text(socket) }
  }

  it('waits for the request in flight, whose answer says close', async () => {
    const { received } = open(request.replace('/', '/slow'))
    await delay(50)
    let drained = false
    const draining = drain().then(() => {
      drained = true
    })
    await delay(400)
    expect(drained).to.equal(false)
    finish()
    expect(await received).to.match(/^HTTP\/1.1 200 OK\r\nconnection: close\r\n.*done$/is)
    await draining
  })

  it('takes no new connections', async () => {
    const { port } = server.address() as AddressInfo
    open('')
    const draining = drain()
    expect(await fetch(`http://127.0.0.1:${port}`).catch((error) => error.cause.code)).to.equal('ECONNREFUSED')
    await draining
  })

  it('answers on an idle connection for a moment longer, and says close', async () => {
    const { socket, received } = open(request)
    await delay(50)
    const draining = drain()
    await delay(150)
    socket.write(request)
    const answers = (await received).split('HTTP/1.1 200 OK\r\n').slice(1)
    expect(answers.map((answer) => /connection: (\S+)/i.exec(answer)?.[1])).to.deep.equal(['keep-alive', 'close'])
    await draining
  })

  it('closes connections that stay idle or have never said anything', async () => {
    const [idle, silent] = [open(request), open('')]
    await delay(50)
    const begun = performance.now()
    await drain()
    expect(await idle.received).to.match(/ok$/)
    expect(await silent.received).to.equal('')
    expect(performance.now() - begun).to.be.below(400)
  })

  it('is done at once when nobody is connected', async () => {
    const begun = performance.now()
    await drain()
    expect(performance.now() - begun).to.be.below(100)
  })
})
