import { createLog, type Logger } from '../telemetry/log.ts'

/** Returns a log, and the list to which the log adds its records. */
export function capturedLog(): { log: Logger; records: Record<string, unknown>[] } {
  const records: Record<string, unknown>[] = []
  const log = createLog('test', 'info', { write: (line) => void records.push(JSON.parse(line)) })
  return { log, records }
}
