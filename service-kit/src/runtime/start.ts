import { randomUUID } from 'node:crypto'
import { createSidecar, type Sidecar } from '../sidecar/sidecar.ts'
import { createLog, type Logger, stackOf } from '../telemetry/log.ts'
import { PortTakenError } from './listener.ts'
import { type App, serve } from './server.ts'
import { type BaseSettings, SettingsError } from './settings.ts'

export type { App }

/** What a service is built from; a test passes its own. */
export interface AppDependencies<S extends BaseSettings> {
  settings: S
  log: Logger
  sidecar: Sidecar
  now: () => Date
  newId: () => string
}

/**
 * Runs a service until it is told to stop. What keeps it from starting is told on standard error, and ends it with 1.
 * @param personal names of the fields that hold personal data, which its log masks
 */
export async function start<S extends BaseSettings>(
  createApp: (dependencies: AppDependencies<S>) => App,
  readSettings: (env: NodeJS.ProcessEnv) => S,
  personal: readonly string[],
): Promise<void> {
  try {
    const settings = readSettings(process.env)
    const log = createLog(settings.App.Name, settings.Log.Level, { personal })
    const sidecar = createSidecar(settings)
    await serve(createApp({ settings, log, sidecar, now: () => new Date(), newId: randomUUID }), settings, log)
  } catch (error) {
    process.stderr.write(`${failureText(error)}\n`)
    process.exitCode = 1
  }
}

/** A few lines for what the environment can mend; all else is a mistake of ours, which only its stack leads to. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error instanceof SettingsError || error instanceof PortTakenError ? error.message : stackOf(error)
}
