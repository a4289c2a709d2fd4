import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../telemetry/log.ts'
import type { Background } from './define-service.ts'
import { limitsOf } from './limits.ts'
import { channelTimeouts, type Listener, listen, metricsBounds, publicBounds } from './listener.ts'
import type { BaseSettings } from './settings.ts'

/** A service without its listeners: `web` for the public, `channel` for the sidecar, `metrics` for whoever scrapes them. */
export interface App {
  web: RequestListener
  channel: RequestListener
  metrics: RequestListener
  background?: Background
}

/** How long a stop waits for requests in flight. Platforms send SIGKILL 10 s after SIGTERM, or later. */
const drainMs = 9_000

/** How long a collector of traces that does not answer holds up a stop. */
const lastWordsMs = 1_000

/**
 * Opens a service's listeners; SIGTERM and SIGINT let the requests in flight finish, then end the process.
 * @param onDrained what is left to do before it ends
 * @throws {PortTakenError} naming the setting to change
 */
export async function serve(
  app: App,
  settings: ServerSettings,
  log: Logger,
  onDrained: () => Promise<void>,
): Promise<void> {
  const listeners = await openListeners(app, settings)
  // As the system gave them, which chooses one where a test asks for 0.
  const [http, channel, metrics, https] = listeners.map(({ server }) => (server.address() as AddressInfo).port)
  const ports = { http, https, channel, metrics }
  log.info(
    { ...ports, callers: callersIn[settings.Auth.Mode], limits: limitsOf(settings) ?? 'none, on loopback' },
    'up',
  )

  app.background?.start()

  const stop = async (signal: string) => {
    log.info({ signal }, 'stopping')
    setTimeout(() => process.exit(1), drainMs).unref()
    await Promise.all([...listeners.map(({ drain }) => drain()), app.background?.stop()])
    await Promise.race([onDrained().catch(() => {}), delay(lastWordsMs)])
    process.exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop(signal))
}

/** Who may call, in words. */
const callersIn = {
  loopback: 'anybody on this machine: Auth__Mode is loopback',
  open: 'anybody who reaches this machine: Auth__Mode is open',
  closed: 'who has a token or a key',
}

type ListenerSettings = Pick<BaseSettings, 'Web' | 'AppChannel' | 'Metrics'>
type ServerSettings = ListenerSettings & Pick<BaseSettings, 'Auth' | 'Limits'>

/** Public http, the sidecar's channel, metrics and, when a certificate is set, public https; in this order, and all or none. */
export async function openListeners(
  app: App,
  { Web: web, AppChannel: channel, Metrics: metrics }: ListenerSettings,
): Promise<Listener[]> {
  const listeners: Listener[] = []
  const open = async (...[listener, options, address]: Parameters<typeof listen>) => {
    listeners.push(await listen(listener, options, address))
  }
  try {
    await open(app.web, publicBounds, { host: web.Host, port: web.HttpPort, variable: 'Web__HttpPort' })
    await open(app.channel, channelTimeouts, { host: channel.Host, port: channel.Port, variable: 'AppChannel__Port' })
    await open(app.metrics, metricsBounds, { host: metrics.Host, port: metrics.Port, variable: 'Metrics__Port' })
    if (web.CertificateFile) {
      const tls = { cert: readFileSync(web.CertificateFile), key: readFileSync(web.KeyFile) }
      const address = { host: web.Host, port: web.HttpsPort, variable: 'Web__HttpsPort' }
      await open(app.web, { ...publicBounds, ...tls }, address)
    }
    return listeners
  } catch (error) {
    // One that stays open keeps the process alive, with a service that has no channel.
    await Promise.all(listeners.map(({ drain }) => drain()))
    throw error
  }
}
