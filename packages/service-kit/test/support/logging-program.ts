import { createLog } from '../../src/telemetry/log.ts'

// Logs each message of the parent process to standard output, and sends the message back.

const log = createLog('test', 'info')
process.on('message', (text: string) => {
  log.info(text)
  process.send?.(text)
})
