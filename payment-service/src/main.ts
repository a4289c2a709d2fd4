import { start } from '@orderflow/service-kit'
import { createApp } from './app.ts'
import { readSettings } from './settings.ts'

await start(createApp, readSettings)
