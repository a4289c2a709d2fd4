import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { ApplicationError } from '../../application/file.ts'
import { ApiKeysError } from '../../auth/api-keys.ts'
import { createIdleSidecar, endSidecar, type SidecarSettings } from '../../sidecar/sidecar.ts'
import { createClockReader, createLogClock } from '../../stream/log/log-clock.ts'
import { createPublisher } from '../../stream/publishing/publish.ts'
import { errorType, type Tracing, within } from '../../telemetry/context.ts'
import { createLog, type Logger, stackOf } from '../../telemetry/log.ts'
import { contractMask, type Mask } from '../../telemetry/mask.ts'
import { traceSettings } from '../../telemetry/trace-settings.ts'
import { TrustFileError } from '../../trust/read-trust.ts'
import { type App, createApp } from '../create-app.ts'
import type { ServiceDefinition } from '../define-service.ts'
import { watch } from '../readiness/watchdog.ts'
import { type BaseSettings, limitsOf, readSettings, SettingsError } from '../settings/settings.ts'
import { channelTimeouts, type Listener, listen, metricsBounds, PortTakenError, publicBounds } from './listener.ts'
import { bypassProxies } from './loopback.ts'

/** Runs a service until SIGTERM or SIGINT. If the start fails, it prints the error and exits with 1. */
export async function run<S extends object>(service: ServiceDefinition<S>): Promise<void> {
  bypassProxies(process.env)
  let mask: Pick<Mask, 'text'> = contractMask
  // By default, Node would print all fields of the error, which may contain documents.
  process.on('uncaughtException', (error) => {
    process.stderr.write(`${failureText(error, mask)}\n`)
    process.exit(1)
  })
  try {
    const settings = readSettings(service, process.env)
    const log = createLog(settings.App.Name, settings.Log.Level)
    mask = log.mask
    const sidecar = await openSidecar(service, settings)
    const tracing = await startTracing(settings.App.Name, process.env, log)
    const clock = createLogClock(createClockReader(settings.Stream, settings.App.Name, createPublisher(sidecar)))
    const app = createApp(service, { settings, log, sidecar, tracing, clock, now: () => new Date(), newId: randomUUID })
    await serve(app, settings, log, async () => tracing?.stop())
  } catch (error) {
    process.stderr.write(`${failureText(error, mask)}\n`)
    process.exitCode = 1
  }
}

/** Creates the client of the sidecar. Only services that publish or store load the client's modules. */
async function openSidecar({ produces }: Pick<ServiceDefinition<object>, 'produces'>, settings: SidecarSettings) {
  if (produces.length === 0 && !settings.State.Store) return createIdleSidecar(settings)
  const { createSidecar } = await import('../../sidecar/dapr-sidecar.ts')
  return createSidecar(settings)
}

/** Returns the error's message if a setting or file can fix the error. For any other error, returns the stack. */
export function failureText(error: unknown, mask: Pick<Mask, 'text'>): string {
  if (!(error instanceof Error)) return mask.text(String(error))
  const explained = [ApplicationError, SettingsError, TrustFileError, PortTakenError, ApiKeysError]
  return explained.some((type) => error instanceof type) ? error.message : mask.text(stackOf(error))
}

/** The shortest time between two warnings about traces. Without it, an unreachable collector would cause a warning every few seconds. */
const quietMs = 60_000

/** Starts recording traces if the environment names a collector. */
export async function startTracing(service: string, env: NodeJS.ProcessEnv, log: Logger): Promise<Tracing | undefined> {
  const settings = traceSettings(env)
  if (!settings) return undefined
  const { otlpTracing } = await import('../../telemetry/otel.ts')
  let quietUntil = 0
  log.info(settings, 'traces are recorded')
  return otlpTracing(service, settings, (error) => {
    if (performance.now() < quietUntil) return
    quietUntil = performance.now() + quietMs
    const message = 'the collector of traces did not accept spans; this warning appears at most once a minute'
    // Logs outside of any request. Otherwise the line would have the trace ids of the request during which the export began.
    within(undefined, () => log.warn({ reason: errorType(error) }, message))
  })
}

/** The time for which the shutdown waits for the answers to open requests. Platforms send SIGKILL 10 s or more after SIGTERM. */
const drainMs = 9_000

const lastWordsMs = 1_000

/**
 * Opens a service's listeners. After SIGTERM or SIGINT, it answers the open requests, closes the listeners and ends the process.
 * @param onDrained runs after the last answer, before the process ends
 * @throws {PortTakenError} if another program uses a port
 */
export async function serve(app: App, settings: ServerSettings, log: Logger, onDrained: () => Promise<void>) {
  app.storeWatch?.start()
  const listeners = await openListeners(app, settings)
  const stop = async (signal: string) => {
    log.info({ signal }, 'stopping')
    setTimeout(() => end(1), drainMs).unref()
    await Promise.all([...listeners.map(({ drain }) => drain()), ...app.backgrounds.map((each) => each.stop())])
    await Promise.race([onDrained().catch(() => {}), delay(lastWordsMs)])
    await end(0)
  }
  /** Also ends a sidecar whose subscription has stalled, because in a pod the platform restarts only the service. */
  const end = async (status: number) => {
    if (app.watchdog && app.watchdog.stalled().size > 0) {
      await endSidecar(settings.Sidecar).then(
        () => log.info('the sidecar ends, too, because its subscription has stalled'),
        (err) => log.warn({ err }, 'the sidecar cannot be ended'),
      )
    }
    process.exit(status)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop(signal))

  // Asks the servers for their ports, because tests set port 0, and the system then chooses a port.
  const [http, channel, metrics, https] = listeners.map(({ server }) => (server.address() as AddressInfo).port)
  const limits = limitsOf(settings) ?? 'none, on loopback'
  log.info({ http, https, channel, metrics, callers: callersIn[settings.Auth.Mode], limits }, 'up')
  for (const background of app.backgrounds) background.start()
  if (app.watchdog) void watch(app.watchdog)
}

const callersIn = {
  loopback: 'any program on this machine: Auth__Mode is loopback',
  open: 'anyone who can reach this machine: Auth__Mode is open',
  closed: 'callers with a token or an API key',
}

type ListenerSettings = Pick<BaseSettings, 'Web' | 'AppChannel' | 'Metrics'>
type ServerSettings = ListenerSettings & Pick<BaseSettings, 'Auth' | 'Limits' | 'Sidecar'>

/**
 * Opens the public http listener, the listener of the sidecar's channel, and the internal listener. With a certificate, it also opens the public
 * https listener. If a listener cannot be opened, it closes the other listeners.
 */
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
    // An open listener would keep the process alive although other listeners are missing.
    await Promise.all(listeners.map(({ drain }) => drain()))
    throw error
  }
}
