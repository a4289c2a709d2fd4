import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { serve } from '../../../src/runtime/run.ts'
import type { BaseSettings } from '../../../src/runtime/settings.ts'
import { createLog } from '../../../src/telemetry/log.ts'

// Runs a service with the settings in its first argument. It answers /slow after SIGTERM, and every other request within 50 ms. It prints “begun” when
// a request for /slow arrives.

const settings = JSON.parse(process.argv[2] ?? '') as BaseSettings
const log = createLog('tiny', 'info')
const answer = async ({ url }: { url?: string | undefined }, response: { end(text: string): void }) => {
  if (url === '/slow') {
    log.info('begun')
    await once(process, 'SIGTERM')
  }
  await delay(Math.random() * 50)
  response.end('ok')
}
await serve({ web: answer, channel: answer, metrics: answer }, settings, log, async () => {})
