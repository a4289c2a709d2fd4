import { constants } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, Server as NetServer } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { timeLimit } from '../../limits.ts'
import { drainable, limitConnections } from './connections.ts'

/**
 * The time for which a connection may be idle. It must exceed the time for which clients keep idle connections. Otherwise clients would send requests
 * on connections that the server is closing. Routers and daprd keep connections for 90 s (Go's http.DefaultTransport, IdleConnTimeout), and AWS's
 * load balancer keeps them for 60 s.
 */
const keepAliveTimeout = timeLimit(95_000)

/** The interval at which Node looks for late requests. Requests may exceed their time limits by this interval. Node's default is 30 s. */
const connectionsCheckingInterval = 2_000

/**
 * The limits of the public listener. A late request gets 408 and its connection is closed, so slow senders cannot hold many connections. The times
 * are long enough for phones to send 16 KiB of headers and a body of 64 KiB (web/body.ts).
 */
export const publicBounds = {
  keepAliveTimeout,
  connectionsCheckingInterval,
  headersTimeout: timeLimit(10_000),
  requestTimeout: timeLimit(30_000),
  maxHeaderSize: 16 * 1024,
  // On old systems, a process may open at most 4,096 files, and each connection is a file. docs/security.md states the memory that connections need.
  maxConnections: 4_000,
} satisfies ServerOptions & { maxConnections: number }

/**
 * The limits of the sidecar's channel. The sidecar repeats a delivery after 60 s (components/resiliency.yaml), so a slower delivery would be useless.
 */
export const channelTimeouts = {
  keepAliveTimeout,
  connectionsCheckingInterval,
  headersTimeout: timeLimit(60_000),
  requestTimeout: timeLimit(60_000),
} satisfies ServerOptions

/** The limits of the internal listener, which has few clients. */
export const metricsBounds = { ...publicBounds, maxConnections: 20 }

/**
 * The options of public TLS. They allow only ciphers with forward secrecy and authenticated encryption (RFC 9325, section 4.2). Renegotiation is
 * disabled, because it costs the server much more than the client.
 */
export const tlsOptions = {
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.3',
  ciphers: [
    'TLS_AES_128_GCM_SHA256',
    'TLS_AES_256_GCM_SHA384',
    'TLS_CHACHA20_POLY1305_SHA256',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-AES256-GCM-SHA384',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ].join(':'),
  honorCipherOrder: true,
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  // A TLS handshake may take as long as the headers of a request. Node's default is two minutes.
  handshakeTimeout: timeLimit(10_000),
} satisfies TlsOptions

/** The address of a listener. `variable` is the environment variable that sets the port. */
export interface Address {
  host: string
  port: number
  variable: string
}

export type Listener = { server: Server; drain: () => Promise<void> }

/** Thrown if the port is in use. `message` contains the fix. */
export class PortTakenError extends Error {
  readonly code = 'port-taken'
  constructor({ host, port, variable }: Address, cause: unknown) {
    super(`port ${port} on ${host} is in use: stop the program that uses it, or set ${variable}`, { cause })
    this.name = 'PortTakenError'
  }
}

/** The number of attempts to find a port that is free on both loopback addresses. */
const maxAttempts = 10

/** Returns the addresses to listen on. For `localhost` these are both loopback addresses, because some clients try only one of them. */
const addressesOf = (host: string): readonly string[] => (host === 'localhost' ? ['127.0.0.1', '::1'] : [host])

/**
 * Opens a listener, with TLS if the options have a certificate (`cert` and `key`, PEM).
 * @param options `maxConnections` is the limit for all addresses together; undefined for no limit
 * @param hosts the addresses to listen on; at least one must exist on this machine
 * @throws {PortTakenError}
 */
export async function listen(
  app: RequestListener,
  { maxConnections, ...options }: ServerOptions & { cert?: Buffer; key?: Buffer; maxConnections?: number },
  address: Address,
  hosts = addressesOf(address.host),
): Promise<Listener> {
  for (let attempt = 1; ; attempt += 1) {
    const server = options.cert ? createSecureServer({ ...tlsOptions, ...options }, app) : createServer(options, app)
    if (maxConnections !== undefined) limitConnections(server, maxConnections)
    const sockets: NetServer[] = []
    const drain = drainable(server, sockets)
    try {
      await openSockets(server, sockets, address, hosts)
      return { server, drain }
    } catch (error) {
      await drain()
      if (!(error instanceof PortTakenError) || address.port !== 0 || attempt === maxAttempts) throw error
    }
  }
}

/** Listens on the same port of each existing address, and adds the sockets to `sockets`. */
async function openSockets(server: Server, sockets: NetServer[], address: Address, hosts: readonly string[]) {
  let absent: unknown
  for (const host of hosts) {
    const [first] = sockets
    const port = first ? (first.address() as AddressInfo).port : address.port
    // All sockets pass their connections to one server, so that one limit and one shutdown apply. The options are the defaults of http servers.
    const socket = first
      ? new NetServer({ allowHalfOpen: true, noDelay: true }, (connection) => server.emit('connection', connection))
      : server
    try {
      socket.listen(port, host)
      await once(socket, 'listening')
      sockets.push(socket)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EADDRINUSE') throw new PortTakenError({ ...address, host, port }, error)
      // The machine may lack an address: ::1 is missing if IPv6 is switched off.
      if (code !== 'EADDRNOTAVAIL' && code !== 'EAFNOSUPPORT') throw error
      absent = error
    }
  }
  if (sockets.length === 0) throw absent
}
