import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A collector of traces that keeps what is sent to it: OTLP over HTTP, in protobuf. */
export async function collectTraces() {
  const received: Buffer[] = []
  const server = createServer(async (request, response) => {
    received.push(await buffer(request))
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    received,
    /** For the environment of whoever is to send its spans here, without much delay. */
    variables: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_INSECURE: 'true',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    },
    close: () => server.close(),
  }
}
