import { operate } from '@orderflow/service-kit/operations'
import { createReplay } from './replay.ts'
import { readSettings } from './settings.ts'

await operate({ readSettings, rebuildFrom: createReplay })
