import { EventEmitter } from 'node:events'
import type { AppState, LogLine } from './state.ts'

/** The number of log lines that the platform keeps. */
const kept = 1500

/** Sends new lines to open log sessions. The name of the event is the app's id. */
const lines = new EventEmitter().setMaxListeners(0)

export function logLine(app: AppState, line: Omit<LogLine, 'at'>): void {
  // The platform writes times with microseconds and an offset.
  const at = new Date().toISOString().replace('Z', '000+00:00')
  app.log.push({ at, ...line })
  if (app.log.length > kept) app.log.shift()
  lines.emit(app.id, app.log.at(-1))
}

export interface LogFilter {
  /** A dyno, such as web.1, or a process type, such as web. */
  dyno?: string | undefined
  source?: string | undefined
}

export function format({ at, source, dyno, text }: LogLine): string {
  return `${at} ${source}[${dyno}]: ${text}`
}

export function matches({ dyno, source }: LogFilter): (line: LogLine) => boolean {
  return (line) =>
    (dyno === undefined || line.dyno === dyno || line.dyno.startsWith(`${dyno}.`)) &&
    (source === undefined || line.source === source)
}

/** Calls `onLine` for every new log line of an app, until the returned function is called. */
export function watchLog(app: AppState, onLine: (line: LogLine) => void): () => void {
  lines.on(app.id, onLine)
  return () => lines.off(app.id, onLine)
}
