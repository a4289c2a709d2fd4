import { constants } from 'node:crypto'
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { TlsOptions } from 'node:tls'
import { limitConnections } from './connections.ts'
import { drainable } from './drain.ts'

/**
 * How long a connection may idle. Whoever keeps it longer never sends on one that the other is closing, which would be a reset;
 * here that must be Node, whose own 5 s are less than any proxy's: hosting routers and daprd keep connections for 90 s (Go's
 * http.DefaultTransport, IdleConnTimeout), AWS's load balancer for 60 s.
 */
const keepAliveTimeout = 95_000

/** How often Node looks for requests that are late: a limit below is this much longer at worst. Its own 30 s are too coarse. */
const connectionsCheckingInterval = 2_000

/**
 * The public. A request that is not there in time is answered 408 and its connection closed, so that nobody holds many of them
 * open by sending a byte now and then. Headers are at most 16 KiB and bodies 64 KiB here (web/requests/body.ts): both limits leave a mobile phone
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

/** Whoever scrapes, in the network that the service is in: a few, who ask now and then. */
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

/** Where a listener listens. `variable` is the setting that says so. */
export interface Address {
  host: string
  port: number
  variable: string
}

export interface Listener {
  server: Server
  /** Takes no more connections; resolves when the last request has been answered. */
  drain: () => Promise<void>
}

/** Another process has the port. `message` says what to do about it. */
export class PortTakenError extends Error {
  readonly code = 'port-taken'
  constructor({ port, variable }: Address, cause: unknown) {
    super(`port ${port} is in use: stop what listens there, or set ${variable}`, { cause })
    this.name = 'PortTakenError'
  }
}

/**
 * Listens with an app; over TLS when the options hold a certificate (`cert` and `key`, PEM).
 * @param options `maxConnections`: how many are kept; any number without
 * @throws {PortTakenError}
 */
export function listen(
  app: RequestListener,
  { maxConnections, ...options }: ServerOptions & { cert?: Buffer; key?: Buffer; maxConnections?: number },
  address: Address,
): Promise<Listener> {
  const server = options.cert ? createSecureServer({ ...tlsOptions, ...options }, app) : createServer(options, app)
  if (maxConnections !== undefined) limitConnections(server, maxConnections)
  const drain = drainable(server)
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'EADDRINUSE' ? new PortTakenError(address, error) : error)
    })
    server.listen(address.port, address.host, () => resolve({ server, drain }))
  })
}
