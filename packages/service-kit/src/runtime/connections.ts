import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { Server as SecureServer } from 'node:tls'

interface Connection {
  /** The accepted socket, below TLS. */
  socket: Socket
  exchange: { request: IncomingMessage; response: ServerResponse } | undefined
  /** The time of the last request, or of the start (`performance.now()`). */
  since: number
}

/**
 * Limits a server's connections, so that idle ones never keep new clients out. A new connection closes the one that has been idle, or sending a
 * request, for longest. If all others wait for an answer, the new one is closed.
 */
export function limitConnections(server: Server, max: number): void {
  const connections = new Map<string, Connection>()
  const bySocket = new WeakMap<Socket, Connection>()
  server.on('connection', (socket: Socket) => {
    const address = addressOf(socket)
    const connection = { socket, exchange: undefined, since: performance.now() }
    connections.set(address, connection)
    bySocket.set(socket, connection)
    socket.once('close', () => connections.delete(address))
    if (connections.size <= max) return
    const [longest, { socket: closed }] = longestWaiting(connections)
    closed.destroy()
    // The event `close` comes later, after further connections.
    connections.delete(longest)
  })

  // Requests refer to the TLS socket, which has the same address.
  if (server instanceof SecureServer) {
    server.on('secureConnection', (secured: Socket) => {
      const connection = connections.get(addressOf(secured))
      if (connection) bySocket.set(secured, connection)
    })
  }

  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = bySocket.get(request.socket)
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
 * The time for which idle connections stay open during a stop. Requests in this time are answered; later ones get a reset. Busy clients send the next
 * request within milliseconds.
 */
const graceMs = 250

/**
 * Returns a function that stops a server after its last answer. The server refuses new connections, and answers carry `Connection: close` (RFC 9112,
 * section 9.6).
 *
 * `server.close()` would close idle connections at once, while a request may be under way (ADR 38).
 * @param sockets the sockets that accept connections; read when the stop begins
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
    // Timers run before sockets are read. While the event loop was blocked, a request may have arrived on an idle connection.
    await turn()
    server.closeIdleConnections()
    if (unanswered.size > 0) await new Promise<void>((resolve) => (lastAnswered = resolve))
    server.closeAllConnections()
  }
}

const closed = (socket: NetServer): Promise<void> =>
  new Promise((resolve) => NetServer.prototype.close.call(socket, () => resolve()))
