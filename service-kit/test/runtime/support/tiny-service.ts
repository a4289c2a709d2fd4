import { setTimeout as delay } from 'node:timers/promises'
import { serve } from '../../../src/runtime/server.ts'
import type { BaseSettings } from '../../../src/runtime/settings.ts'
import { createLog } from '../../../src/telemetry/log.ts'

// A process that listens as a service does, with the settings of its first argument, and answers each request within
// 5 ms; one to /slow takes 400 ms.

const settings = JSON.parse(process.argv[2] ?? '') as BaseSettings
const answer = async (request: { url?: string | undefined }, response: { end(text: string): void }) => {
  await delay(request.url === '/slow' ? 400 : Math.random() * 5)
  response.end('ok')
}
await serve({ web: answer, channel: answer }, settings, createLog('tiny', 'info'))
