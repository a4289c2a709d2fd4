import { createLog } from '../../src/telemetry/log.ts'

// Logs each message of its parent to standard output, and reports each one.

const log = createLog('test', 'info')
process.on('message', (text: string) => {
  log.info(text)
  process.send?.(text)
})
