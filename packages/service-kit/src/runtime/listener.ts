import { constants } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, Server as NetServer } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { drainable, limitConnections } from './connections.ts'

/**
 * The time for which a connection may be idle. It must be longer than the clients' time, or the server closes connections on which clients are
 * sending. Routers and daprd keep connections for 90 s (Go's http.DefaultTransport, IdleConnTimeout), AWS's load balancer for 60 s. Node's default is
 * 5 s.
 */
const keepAliveTimeout = 95_000

/** The interval at which Node looks for late requests. The limits below may last this much longer. Node's default is 30 s. */
const connectionsCheckingInterval = 2_000

/**
 * The limits of the public listener. A late request gets 408 and its connection is closed, so slow senders cannot hold many connections. Headers have
 * at most 16 KiB and bodies 64 KiB (web/body.ts), which a phone with a few kilobytes a second can send in time. The time of the answer is unlimited.
 */
export const publicBounds = {
  keepAliveTimeout,
  connectionsCheckingInterval,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  maxHeaderSize: 16 * 1024,
  // The limit of each port. It is below the 4,096 open files of a process on old systems; docs/security.md names the memory.
  maxConnections: 4_000,
} satisfies ServerOptions & { maxConnections: number }

/**
 * The limits of the sidecar's channel, which is trusted and on loopback. The sidecar gives up a delivery after 60 s (components/resiliency.yaml) and
 * sends it again, so slower bodies are useless.
 */
export const channelTimeouts = {
  keepAliveTimeout,
  connectionsCheckingInterval,
  headersTimeout: 60_000,
  requestTimeout: 60_000,
} satisfies ServerOptions

/** The limits of the internal listener, which has few clients with few requests. */
export const metricsBounds = { ...publicBounds, maxConnections: 20 }

/**
 * The options of public TLS. For TLS 1.2 they allow only ciphers with forward secrecy and authenticated encryption (RFC 9325, section 4.2), for both
 * types of keys. TLS 1.3 has no others. Renegotiation is disabled, because it costs the server much and the client little.
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
  // The same limit as for headers; Node's default is two minutes.
  handshakeTimeout: 10_000,
} satisfies TlsOptions

/** The address of a listener. `localhost` means both loopback addresses. `variable` is the setting of the port. */
export interface Address {
  host: string
  port: number
  variable: string
}

export interface Listener {
  /** The server for the connections of all addresses. */
  server: Server
  /** Accepts no more connections, and resolves when all requests have been answered. */
  drain: () => Promise<void>
}

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

/** Returns the addresses to listen on. Some clients try only one of the two loopback addresses of `localhost`. */
const addressesOf = (host: string): readonly string[] => (host === 'localhost' ? ['127.0.0.1', '::1'] : [host])

/**
 * Opens a listener, with TLS if the options have a certificate (`cert` and `key`, PEM).
 * @param options `maxConnections`: the limit for all addresses together; undefined for no limit
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

/** Makes the server listen on one port of each existing address, and adds the sockets to `sockets`. */
async function openSockets(
  server: Server,
  sockets: NetServer[],
  address: Address,
  hosts: readonly string[],
): Promise<void> {
  let absent: unknown
  for (const host of hosts) {
    const [first] = sockets
    const port = first ? (first.address() as AddressInfo).port : address.port
    // All sockets belong to one server, so its limit and its drain apply to all addresses. The options are the defaults of http servers.
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
      // For example, ::1 is missing if IPv6 is switched off.
      if (code !== 'EADDRNOTAVAIL' && code !== 'EAFNOSUPPORT') throw error
      absent = error
    }
  }
  if (sockets.length === 0) throw absent
}
