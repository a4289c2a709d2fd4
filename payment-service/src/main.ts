import { randomUUID } from 'node:crypto'
import { createLog, createSidecar, serve } from '@orderflow/service-kit'
import { createApp } from './app.ts'
import { readSettings } from './settings.ts'

const settings = readSettings(process.env)
const log = createLog(settings.App.Name, settings.Log.Level)
const sidecar = createSidecar(settings)
await serve(createApp({ settings, log, sidecar, now: () => new Date(), newId: randomUUID }), settings, log)
