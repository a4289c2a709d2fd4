import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { serve } from '../../../src/runtime/process/run.ts'
import type { Watchdog } from '../../../src/runtime/readiness/watchdog.ts'
import type { BaseSettings } from '../../../src/runtime/settings/settings.ts'
import { createLog } from '../../../src/telemetry/log.ts'

// Runs a service with the settings in its first argument. It answers /slow after SIGTERM, and every other request within 50 ms. It prints “begun” when
// a request for /slow arrives. With a second argument, its subscription has stalled for this reason.

const [, , text = '', reason] = process.argv
const settings = JSON.parse(text) as BaseSettings
const log = createLog('tiny', 'info')
const answer = async ({ url }: { url?: string | undefined }, response: { end(text: string): void }) => {
  if (url === '/slow') {
    log.info('begun')
    await once(process, 'SIGTERM')
  }
  await delay(Math.random() * 50)
  response.end('ok')
}
const watchdog: Watchdog = {
  watched: (_topic, deliver) => deliver,
  check: async () => {},
  stalled: () => new Map(reason === undefined ? [] : [['in', reason]]),
}
await serve({ web: answer, channel: answer, metrics: answer, backgrounds: [], watchdog }, settings, log, async () => {})
