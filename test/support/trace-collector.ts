import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/**
 * A collector of traces that keeps what is sent to it: OTLP over HTTP, in protobuf.
 * @param at where it listens with TLS, and the name it has there; on loopback without, unless given
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
    /** What spans tell is text in there. */
    received: () => received.map(({ headers, body }) => ({ headers, text: body.toString('latin1') })),
    /** For the environment of whoever is to send all of its spans here, without much delay. */
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
