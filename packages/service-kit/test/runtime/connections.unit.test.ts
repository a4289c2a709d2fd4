import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { connect as connectSecurely } from 'node:tls'
import { expect } from 'chai'
import { generate } from 'selfsigned'
import { type Listener, listen } from '../../src/runtime/process/listener.ts'
import { portOf } from './support/port.ts'

const max = 3

for (const scheme of ['http', 'https'] as const) {
  describe(`limitConnections for ${scheme} with ${max} connections`, () => {
    let tls: { cert?: Buffer; key?: Buffer } = {}
    let listener: Listener
    let clients: Socket[]
    /** The responses that the server has not yet sent, in the order of their requests. */
    let waiting: ServerResponse[]
    let accepted: number

    before(async () => {
      if (scheme === 'http') return
      const { cert, private: key } = await generate(undefined, { keyType: 'ec' })
      tls = { cert: Buffer.from(cert), key: Buffer.from(key) }
    })
    beforeEach(async () => {
      ;[clients, waiting, accepted] = [[], [], 0]
      const app: RequestListener = (request, response) => {
        if (request.url === '/later') waiting.push(response)
        else response.end('ok')
      }
      listener = await listen(app, { ...tls, maxConnections: max }, { host: '127.0.0.1', port: 0, variable: '' })
      listener.server.on('connection', () => {
        accepted += 1
      })
    })
    afterEach(async () => {
      for (const client of clients) client.destroy()
      for (const response of waiting) response.end()
      await listener.drain()
    })

    async function until(condition: () => boolean): Promise<void> {
      while (!condition()) await turn()
    }

    async function open(sent = ''): Promise<Socket> {
      const before = accepted
      const port = portOf(listener.server)
      const options = { port, host: '127.0.0.1', rejectUnauthorized: false }
      const client = scheme === 'http' ? connect(options) : connectSecurely(options)
      clients.push(client.on('error', () => {}).resume())
      await new Promise((resolve) => client.once(scheme === 'http' ? 'connect' : 'secureConnect', resolve))
      await until(() => accepted > before)
      client.write(sent)
      return client
    }
    async function ask(client?: Socket): Promise<Socket> {
      const asking = client ?? (await open())
      asking.write(get('/'))
      await once(asking, 'data')
      return asking
    }
    /** Opens a connection and sends a request that the server answers later. */
    async function waitingOne(): Promise<Socket> {
      const count = waiting.length
      const client = await open(get('/later'))
      await until(() => waiting.length > count)
      return client
    }
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
    const isOpen = (client: Socket) => client.readyState === 'open'
    const goneOf = (...few: Socket[]) => few.map((client) => !isOpen(client))

    it('accepts a new connection, and closes the connection that was silent for the longest time', async () => {
      const [first, second, third] = [await open(), await open(), await open()]
      const fourth = await ask()
      await until(() => !isOpen(first))
      expect(goneOf(second, third, fourth)).to.deep.equal([false, false, false])
    })

    it('keeps a recently used connection, and closes a newer connection that was silent for longer', async () => {
      const [first, second] = [await open(), await open(), await open()]
      await ask(first)
      await ask()
      await until(() => !isOpen(second))
      expect(goneOf(first)).to.deep.equal([false])
    })

    it('keeps connections that wait for an answer, and closes a connection with incomplete headers or an incomplete body', async () => {
      for (const late of ['GET / HT', 'POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{']) {
        const busy = await waitingOne()
        const incomplete = await open(late)
        await ask()
        await ask()
        await until(() => !isOpen(incomplete))
        expect(isOpen(busy)).to.equal(true)
        busy.destroy()
      }
    })

    it('closes a new connection if all other connections wait for answers', async () => {
      const busy = [await waitingOne(), await waitingOne(), await waitingOne()] as const
      const late = connect(portOf(listener.server), '127.0.0.1')
        .on('error', () => {})
        .resume()
      clients.push(late)
      await until(() => late.destroyed)
      expect(goneOf(...busy)).to.deep.equal([false, false, false])
      waiting.shift()?.end('ok')
      await once(busy[0], 'data')
      await ask()
    })

    if (scheme === 'https') {
      it('closes a connection that never begins the TLS handshake', async () => {
        const silent = connect(portOf(listener.server), '127.0.0.1')
          .on('error', () => {})
          .resume()
        clients.push(silent)
        await until(() => accepted === 1)
        for (const _ of [1, 2, 3]) await ask()
        await until(() => silent.destroyed)
      })
    }
  })
}
