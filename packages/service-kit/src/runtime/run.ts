import { randomUUID } from 'node:crypto'
import { ApiKeysError } from '../auth/api-keys.ts'
import { createIdleSidecar, type Sidecar, type SidecarSettings } from '../sidecar/sidecar.ts'
import { createLog, stackOf } from '../telemetry/log.ts'
import { maskedText } from '../telemetry/mask.ts'
import { TrustFileError } from '../trust/read-trust.ts'
import { createApp } from './create-app.ts'
import type { ServiceDefinition } from './define-service.ts'
import { PortTakenError } from './listener.ts'
import { readSettings } from './read-settings.ts'
import { serve } from './server.ts'
import { SettingsError } from './settings.ts'
import { startTracing } from './start-tracing.ts'

/** Runs a service until it is told to stop. What keeps it from starting is told on standard error, and ends it with 1. */
export async function run<S extends object>(service: ServiceDefinition<S>): Promise<void> {
  // Node's own way would print all that hangs on an error, such as documents.
  process.on('uncaughtException', (error) => {
    process.stderr.write(`${failureText(error)}\n`)
    process.exit(1)
  })
  try {
    const settings = readSettings(service, process.env)
    const log = createLog(settings.App.Name, settings.Log.Level)
    const sidecar = await openSidecar(service, settings)
    const tracing = await startTracing(settings.App.Name, process.env, log)
    const app = createApp(service, { settings, log, sidecar, tracing, now: () => new Date(), newId: randomUUID })
    await serve(app, settings, log, async () => tracing?.stop())
  } catch (error) {
    process.stderr.write(`${failureText(error)}\n`)
    process.exitCode = 1
  }
}

/** Its protocol is loaded only where there is something to say by it. */
async function openSidecar(
  { produces }: Pick<ServiceDefinition<object>, 'produces'>,
  settings: SidecarSettings,
): Promise<Sidecar> {
  if (produces.length === 0 && !settings.State.Store) return createIdleSidecar(settings)
  const { createSidecar } = await import('../sidecar/dapr-sidecar.ts')
  return createSidecar(settings)
}

/** A few lines for what the environment can mend; all else is a mistake of ours, which only its stack leads to. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return maskedText(String(error))
  const explained = [SettingsError, TrustFileError, PortTakenError, ApiKeysError]
  return explained.some((type) => error instanceof type) ? error.message : maskedText(stackOf(error))
}
