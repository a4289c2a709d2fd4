import { createLog, type Logger } from '../telemetry/log.ts'

/** A log and the records written to it so far. */
export function capturedLog(): { log: Logger; records: Record<string, unknown>[] } {
  const records: Record<string, unknown>[] = []
  const log = createLog('test', 'info', { write: (line) => void records.push(JSON.parse(line)) })
  return { log, records }
}
