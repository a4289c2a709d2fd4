import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Server as SecureServer } from 'node:tls'

interface Connection {
  /** As it was accepted: below TLS, if there is any. */
  socket: Socket
  /** The last that came on it. */
  exchange: { request: IncomingMessage; response: ServerResponse } | undefined
  /** `performance.now()` when it came, or its last request did. */
  since: number
}

/**
 * Holds a server to so many connections, and lets those that only wait keep nobody out: for each one too many it closes that whose
 * client has been silent, or in the middle of a request, for longest. A client that keeps a connection and sends on it again is
 * ready for that, as it may be closed at any time. Only when all of them wait for us is it the new one.
 */
export function limitConnections(server: Server, max: number): void {
  const connections = new Map<string, Connection>()
  const bySocket = new WeakMap<Socket, Connection>()
  server.on('connection', (socket: Socket) => {
    const place = placeOf(socket)
    const connection = { socket, exchange: undefined, since: performance.now() }
    connections.set(place, connection)
    bySocket.set(socket, connection)
    socket.once('close', () => connections.delete(place))
    if (connections.size <= max) return
    const [longest, { socket: closed }] = longestWaiting(connections)
    closed.destroy()
    // It says that it is closed only after more may have come.
    connections.delete(longest)
  })

  // Requests come from what TLS makes of it, which has the same address.
  if (server instanceof SecureServer) {
    server.on('secureConnection', (secured: Socket) => {
      const connection = connections.get(placeOf(secured))
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

const placeOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`

/** The new one at least is one. Found when there is one too many, which is seldom, and not kept for each answer. */
function longestWaiting(connections: Map<string, Connection>): [place: string, Connection] {
  const waiting = [...connections].filter(([, { exchange }]) => !exchange?.request.complete || exchange.response.closed)
  return waiting.reduce((longest, other) => (other[1].since < longest[1].since ? other : longest))
}
