import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/**
 * Starts a collector of traces: OTLP over HTTP in protobuf.
 * @param at the address, name and certificate for TLS; by default it listens on loopback without TLS
 */
export async function collectTraces(at?: { address: string; name: string; certificate: string; key: string }) {
  const received: { headers: IncomingHttpHeaders; body: Buffer }[] = []
  const server = at ? createSecureServer({ cert: at.certificate, key: at.key }) : createServer()
  server.on('request', async (request, response) => {
    received.push({ headers: request.headers, body: await buffer(request) })
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
  })
  await once(server.listen(0, at?.address ?? '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  return {
    /** Returns the requests so far. The texts of spans are readable in a request’s `text`. */
    received: () => received.map(({ headers, body }) => ({ headers, text: body.toString('latin1') })),
    /** Variables with which a program sends all its spans here with little delay. */
    variables: {
      OTEL_EXPORTER_OTLP_ENDPOINT: at ? `https://${at.name}:${port}` : `http://127.0.0.1:${port}`,
      OTEL_TRACES_SAMPLER: 'always_on',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
