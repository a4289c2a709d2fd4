import { constants } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, Server as NetServer } from 'node:net'
import type { TlsOptions } from 'node:tls'
import { drainable, limitConnections } from './connections.ts'

/**
 * How long a connection may idle. A server must keep connections longer than its clients, so that no client sends on one that the server is
 * closing, which would be a reset. Node's default of 5 s is too short: hosting routers and daprd keep connections for 90 s (Go's
 * http.DefaultTransport, IdleConnTimeout), AWS's load balancer for 60 s.
 */
const keepAliveTimeout = 95_000

/** How often Node looks for late requests. The limits below may last this much longer. Node's default of 30 s is too coarse. */
const connectionsCheckingInterval = 2_000

/**
 * The public. A request that is not there in time is answered 408 and its connection closed, so that nobody holds many of them
 * open by sending a byte now and then. Headers are at most 16 KiB and bodies 64 KiB here (web/body.ts): both limits leave a mobile phone
 * with a few kilobytes a second its time. What the service takes to answer does not count.
 */
export const publicBounds = {
  keepAliveTimeout,
  connectionsCheckingInterval,
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  maxHeaderSize: 16 * 1024,
  // On each port. Below the 4,096 files that a process of an old system may have; docs/security.md has the memory that they take.
  maxConnections: 4_000,
} satisfies ServerOptions & { maxConnections: number }

/**
 * The sidecar, which is trusted, on loopback. It gives up a delivery after 60 s (components/resiliency.yaml) and sends it again,
 * so a body that takes longer is nobody's any more.
 */
export const channelTimeouts = {
  keepAliveTimeout,
  connectionsCheckingInterval,
  headersTimeout: 60_000,
  requestTimeout: 60_000,
} satisfies ServerOptions

/** The bounds for scrapers in the service's own network: a few clients with few requests. */
export const metricsBounds = { ...publicBounds, maxConnections: 20 }

/**
 * TLS for the public. Of 1.2 only what has forward secrecy and authenticates what it encrypts (RFC 9325, section 4.2), for keys of either
 * kind; 1.3 has nothing else. A client must not make us repeat the costly part over and over on one connection.
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
  // As long as headers may take; Node's own is two minutes.
  handshakeTimeout: 10_000,
} satisfies TlsOptions

/** The address of a listener. `localhost` means both loopbacks. `variable` is the setting of the port. */
export interface Address {
  host: string
  port: number
  variable: string
}

export interface Listener {
  /** Serves the connections of all addresses. */
  server: Server
  /** Accepts no more connections; resolves when the last request has been answered. */
  drain: () => Promise<void>
}

/** The port is in use. `message` says how to fix it. */
export class PortTakenError extends Error {
  readonly code = 'port-taken'
  constructor({ host, port, variable }: Address, cause: unknown) {
    super(`port ${port} is in use on ${host}: stop what listens there, or set ${variable}`, { cause })
    this.name = 'PortTakenError'
  }
}

/** How often to try again if a port that the system chose is in use on the other loopback. */
const maxAttempts = 10

/** Returns the addresses to listen on. For `localhost`, clients may try either loopback first, and some try no other. */
const addressesOf = (host: string): readonly string[] => (host === 'localhost' ? ['127.0.0.1', '::1'] : [host])

/**
 * Opens a listener for an app; with TLS if the options have a certificate (`cert` and `key`, PEM).
 * @param options `maxConnections`: the limit for all addresses together; undefined for none
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

/** Has the server listen on one port of each address that this machine has, and adds the sockets to `sockets`. */
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
    // All sockets belong to one server, so its limit of connections and its drain apply to all addresses. The options are those of http servers.
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
      // Such as ::1 where IPv6 is switched off.
      if (code !== 'EADDRNOTAVAIL' && code !== 'EAFNOSUPPORT') throw error
      absent = error
    }
  }
  if (sockets.length === 0) throw absent
}
