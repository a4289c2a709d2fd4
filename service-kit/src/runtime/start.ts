import { randomUUID } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { createSidecar, type Sidecar } from '../sidecar/sidecar.ts'
import { createLog, type Logger } from '../telemetry/log.ts'
import { serve } from './server.ts'
import type { BaseSettings } from './settings.ts'

/** What a service is built from; a test passes its own. */
export interface AppDependencies<S extends BaseSettings> {
  settings: S
  log: Logger
  sidecar: Sidecar
  now: () => Date
  newId: () => string
}

/** A service without its listeners: `web` for the public, `channel` for the sidecar. */
export interface App {
  web: RequestListener
  channel: RequestListener
}

/** Runs a service until it is told to stop. What keeps it from starting is told in a few lines, and ends it with 1. */
export async function start<S extends BaseSettings>(
  createApp: (dependencies: AppDependencies<S>) => App,
  readSettings: (env: NodeJS.ProcessEnv) => S,
): Promise<void> {
  try {
    const settings = readSettings(process.env)
    const log = createLog(settings.App.Name, settings.Log.Level)
    const sidecar = createSidecar(settings)
    await serve(createApp({ settings, log, sidecar, now: () => new Date(), newId: randomUUID }), settings, log)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
}
