import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'

interface Connection {
  /** The TCP socket, below TLS. */
  socket: Socket
  exchange: { request: IncomingMessage; response: ServerResponse } | undefined
  /** The time when the last request began, or when the connection was opened (`performance.now()`). */
  since: number
}

/**
 * Limits a server's connections, so that idle connections never block new clients. Above the limit, the server closes the connection that has been
 * idle, or sending a request, for the longest time. If all other connections wait for an answer, it closes the new connection.
 */
export function limitConnections(server: Server, max: number): void {
  const connections = new Map<string, Connection>()
  server.on('connection', (socket: Socket) => {
    const address = addressOf(socket)
    connections.set(address, { socket, exchange: undefined, since: performance.now() })
    socket.once('close', () => connections.delete(address))
    if (connections.size <= max) return
    const [longest, { socket: closed }] = longestWaiting(connections)
    closed.destroy()
    // Further connections may open before the event `close`, so the count must change now.
    connections.delete(longest)
  })

  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    // A request refers to the TLS socket, not to the TCP socket below. Both sockets have the same address.
    const connection = connections.get(addressOf(request.socket))
    if (!connection) return
    connection.exchange = { request, response }
    connection.since = performance.now()
  })
}

const addressOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`

function longestWaiting(connections: Map<string, Connection>): [address: string, Connection] {
  const waiting = [...connections].filter(([, { exchange }]) => !exchange?.request.complete || exchange.response.closed)
  return waiting.reduce((longest, other) => (other[1].since < longest[1].since ? other : longest))
}

/**
 * The time for which idle connections stay open during a stop. The server answers requests that arrive in this time. If a request arrives later, its
 * connection is reset. Busy clients send their next request within milliseconds.
 */
const graceMs = 250

/**
 * Returns a function that stops a server and resolves after the server's last answer. Meanwhile the server refuses new connections, and its answers
 * carry `Connection: close` (RFC 9112, section 9.6).
 *
 * `server.close()` would close idle connections at once, although a client may just have sent a request (ADR 38).
 * @param sockets the sockets that accept connections; the list is read when the stop begins
 */
export function drainable(server: Server, sockets: readonly NetServer[] = [server]): () => Promise<void> {
  const unanswered = new Set<ServerResponse>()
  let draining = false
  let lastAnswered = () => {}

  server.prependListener('request', (_request, response: ServerResponse) => {
    if (draining) response.setHeader('connection', 'close')
    unanswered.add(response)
    response.once('close', () => {
      unanswered.delete(response)
      if (unanswered.size === 0) lastAnswered()
    })
  })

  return async () => {
    draining = true
    for (const response of unanswered) if (!response.headersSent) response.setHeader('connection', 'close')
    await Promise.race([Promise.all(sockets.map(closed)), delay(graceMs)])
    // While the event loop was blocked, a request may have arrived on an idle connection. Node runs timers before it reads sockets, so this line
    // waits until Node has read them.
    await turn()
    server.closeIdleConnections()
    if (unanswered.size > 0) await new Promise<void>((resolve) => (lastAnswered = resolve))
    server.closeAllConnections()
  }
}

const closed = (socket: NetServer): Promise<void> =>
  new Promise((resolve) => NetServer.prototype.close.call(socket, () => resolve()))
