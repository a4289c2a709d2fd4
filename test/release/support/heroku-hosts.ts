import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, request as httpRequest, type Server } from 'node:http'
import { createServer as createSecureServer, request as httpsRequest } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { writeCertificate } from '@orderflow/stack/rehearsal'

export interface HerokuHosts {
  env: Record<string, string>
  close: () => void
}

/**
 * Serves api.heroku.com and registry.heroku.com on this machine for a program that supports HTTPS_PROXY. A TLS server forwards requests to
 * a rehearsal’s API and registry.
 */
export async function herokuHosts(folder: string, env: Record<string, string>): Promise<HerokuHosts> {
  const certificate = await writeCertificate(folder, ['api.heroku.com', 'registry.heroku.com'])
  const files = { cert: certificate.certificate, key: readFileSync(certificate.keyFile) }
  const registryCa = readFileSync(env.NODE_EXTRA_CA_CERTS ?? '')
  const front = createSecureServer(files, (incoming, outgoing) => {
    const isRegistry = incoming.headers.host?.startsWith('registry.')
    const target = new URL(incoming.url ?? '/', isRegistry ? `https://${env.PLATFORM_REGISTRY}` : env.PLATFORM_API_URL)
    const { method } = incoming
    const headers = { ...incoming.headers, host: target.host }
    const forwarded = isRegistry
      ? httpsRequest(target, { method, headers, ca: registryCa })
      : httpRequest(target, { method, headers })
    forwarded.once('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.once('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
  const frontPort = await listen(front)
  const proxy = createServer().on('connect', (_request, socket, head) => {
    const upstream = connect(frontPort, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      upstream.write(head)
      upstream.pipe(socket).pipe(upstream)
    })
    upstream.once('error', () => socket.destroy())
    socket.once('error', () => upstream.destroy())
  })
  const proxyPort = await listen(proxy)
  return {
    env: {
      HTTPS_PROXY: `http://127.0.0.1:${proxyPort}`,
      HEROKU_API_KEY: env.ACCESS_TOKEN ?? '',
      NODE_EXTRA_CA_CERTS: certificate.certificateFile,
      SSL_CERT_FILE: certificate.certificateFile,
      DISABLE_TELEMETRY: 'true',
      // Each command of the tool changes git’s configuration in the home folder.
      HOME: folder,
    },
    close: () => {
      for (const server of [front, proxy]) {
        server.closeAllConnections()
        server.close()
      }
    },
  }
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
