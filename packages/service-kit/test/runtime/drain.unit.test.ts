import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { drainable } from '../../src/runtime/process/connections.ts'
import { virtualTime } from '../support/virtual-time.ts'

const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

describe('drainable', () => {
  let server: Server
  let drain: () => Promise<void>
  let finish: () => void
  let seen: { connections: number; requests: number; answers: number }
  const time = virtualTime()

  beforeEach(async () => {
    seen = { connections: 0, requests: 0, answers: 0 }
    server = createServer((incoming, response) => {
      seen.requests += 1
      response.once('close', () => {
        seen.answers += 1
      })
      if (incoming.url === '/slow') finish = () => response.end('done')
      else response.end('ok')
      if (incoming.url === '/begun') response.flushHeaders()
    })
    server.keepAliveTimeout = 95_000
    server.on('connection', () => {
      seen.connections += 1
    })
    drain = drainable(server)
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  })
  afterEach(() => server.closeAllConnections())

  /** Opens a connection and sends a text. `received` resolves with all bytes that arrive until the connection closes. */
  function open(sent: string): { socket: Socket; received: Promise<string> } {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write(sent)
    return { socket, received: text(socket) }
  }

  async function until(what: keyof typeof seen, count = 1): Promise<void> {
    while (seen[what] < count) await turn()
  }

  it('waits for the request in progress, and adds `Connection: close` to its answer', async () => {
    const { received } = open(request.replace('/', '/slow'))
    await until('requests')
    let drained = false
    const draining = drain().then(() => {
      drained = true
    })
    await time.pass(1_000)
    expect(drained).to.equal(false)
    finish()
    expect(await received).to.match(/^HTTP\/1.1 200 OK\r\nconnection: close\r\n.*done$/is)
    await draining
  })

  it('refuses new connections while it waits', async () => {
    const { port } = server.address() as AddressInfo
    open('')
    await until('connections')
    const draining = drain()
    expect(await fetch(`http://127.0.0.1:${port}`).catch((error) => error.cause.code)).to.equal('ECONNREFUSED')
    await time.pass(250)
    await draining
  })

  it('still answers requests on idle connections for a short time, with `Connection: close`', async () => {
    const { socket, received } = open(request)
    await until('answers')
    const draining = drain()
    await time.pass(150)
    socket.write(request)
    const answers = (await received).split('HTTP/1.1 200 OK\r\n').slice(1)
    expect(answers.map((answer) => /connection: (\S+)/i.exec(answer)?.[1])).to.deep.equal(['keep-alive', 'close'])
    await draining
  })

  it('answers a request that arrived while the event loop was blocked', async () => {
    const { socket, received } = open(request)
    await until('answers')
    const draining = drain()
    socket.write(request)
    time.passAtOnce(250)
    expect(await received).to.match(/ok$/)
    expect(seen.answers).to.equal(2)
    await draining
  })

  it('closes idle connections, even if they never sent a request', async () => {
    const [idle, silent] = [open(request), open('')]
    await until('answers')
    await until('connections', 2)
    const draining = drain()
    await time.pass(250)
    await draining
    expect(await idle.received).to.match(/ok$/)
    expect(await silent.received).to.equal('')
  })

  it('resolves at once if there are no connections', () => drain())
})
