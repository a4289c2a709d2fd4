import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import { Server as SecureServer } from 'node:tls'

interface Connection {
  /** The socket as it was accepted, below TLS. */
  socket: Socket
  /** The last request on it. */
  exchange: { request: IncomingMessage; response: ServerResponse } | undefined
  /** `performance.now()` of its last request, or of its start. */
  since: number
}

/**
 * Limits a server's connections so that idle ones never keep a new client out. For each further connection it closes the one whose client has
 * been silent, or in the middle of a request, for longest. A client that reuses a connection expects that, because the server may close
 * it at any time. Only when all other connections wait for an answer does the new one get closed.
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
    // Its close event comes later, after further connections.
    connections.delete(longest)
  })

  // Requests come from the TLS socket, which has the same address.
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

/** Returns the connection that has waited longest; the new one always waits. It searches all, because the limit is seldom exceeded. */
function longestWaiting(connections: Map<string, Connection>): [address: string, Connection] {
  const waiting = [...connections].filter(([, { exchange }]) => !exchange?.request.complete || exchange.response.closed)
  return waiting.reduce((longest, other) => (other[1].since < longest[1].since ? other : longest))
}

/**
 * How long an idle connection stays open after the stop began. A request that arrives meanwhile is answered with `Connection: close`. One that
 * arrives at the moment of closing gets a reset, and its client cannot know the outcome. Busy clients send again within milliseconds of
 * an answer, also across a continent.
 */
const graceMs = 250

/**
 * Returns a function that ends a server without breaking off a request. From its first call on, the server accepts no new connection, and
 * every answer that has not begun carries `Connection: close`, so that each client leaves its connection after an answer (RFC 9112, section
 * 9.6). It resolves when the last request has been answered, and closes the remaining connections.
 *
 * `server.close()` would close idle connections at once, while a client's next request may be on its way (ADR 38).
 * @param sockets the sockets that accept the server's connections; read when the drain begins
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
    // Timers run before sockets are read: while the event loop was blocked, a request may have arrived on a connection that looks idle.
    await turn()
    server.closeIdleConnections()
    if (unanswered.size > 0) await new Promise<void>((resolve) => (lastAnswered = resolve))
    server.closeAllConnections()
  }
}

/** Accepts no more connections; resolves when the last one is gone. */
const closed = (socket: NetServer): Promise<void> =>
  new Promise((resolve) => NetServer.prototype.close.call(socket, () => resolve()))
