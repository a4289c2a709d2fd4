import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { Logger } from '../telemetry/log.ts'
import type { BaseSettings } from './settings.ts'
import type { App } from './start.ts'

/** How long a stop waits for requests in flight. Platforms send SIGKILL 10 s after SIGTERM, or later. */
const drainMs = 9_000

/**
 * How long the sidecar's connections may idle. daprd keeps them 90 s (Go's http.DefaultTransport, IdleConnTimeout) and Node
 * 5 s; whoever keeps them longer never sends on a connection that the other is closing, and here that must be Node: such a
 * delivery fails, and comes again a second later.
 */
const channelIdleMs = 95_000

/**
 * Opens a service's listeners; SIGTERM and SIGINT let the requests in flight finish, then end the process.
 * @throws {Error} naming the setting to change when a port is taken
 */
export async function serve(app: App, settings: BaseSettings, log: Logger): Promise<void> {
  const servers = await openListeners(app, settings)
  const { Web: web, AppChannel: channel } = settings
  log.info({ http: web.HttpPort, https: web.CertificateFile ? web.HttpsPort : undefined, channel: channel.Port }, 'up')

  const stop = async (signal: string) => {
    log.info({ signal }, 'stopping')
    setTimeout(() => process.exit(1), drainMs).unref()
    await Promise.all(servers.map(drain))
    process.exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop(signal))
}

/** Public http, the sidecar's channel and, when a certificate is set, public https; in this order, and all or none. */
export async function openListeners(app: App, { Web: web, AppChannel: channel }: BaseSettings): Promise<Server[]> {
  const servers: Server[] = []
  try {
    const channelServer = createServer({ keepAliveTimeout: channelIdleMs }, app.channel)
    servers.push(await listen(createServer(app.web), web.Host, web.HttpPort, 'Web__HttpPort'))
    servers.push(await listen(channelServer, channel.Host, channel.Port, 'AppChannel__Port'))
    if (web.CertificateFile) {
      const tls = { cert: readFileSync(web.CertificateFile), key: readFileSync(web.KeyFile) }
      servers.push(await listen(createSecureServer(tls, app.web), web.Host, web.HttpsPort, 'Web__HttpsPort'))
    }
    return servers
  } catch (error) {
    // One that stays open keeps the process alive, with a service that has no channel.
    for (const server of servers) server.close()
    throw error
  }
}

/** Ends when the last request has been answered. A kept-alive connection is closed as soon as it is idle. */
export async function drain(server: Server): Promise<void> {
  const sweep = setInterval(() => server.closeIdleConnections(), 50)
  await new Promise((done) => server.close(done))
  clearInterval(sweep)
}

function listen(server: Server, host: string, port: number, variable: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const taken = error.code === 'EADDRINUSE'
      reject(taken ? new Error(`port ${port} is in use: stop what listens there, or set ${variable}`) : error)
    })
    server.listen(port, host, () => resolve(server))
  })
}
