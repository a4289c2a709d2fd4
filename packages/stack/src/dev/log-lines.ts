import { objectIn } from '../base/error.ts'
import { paint } from '../base/terminal.ts'

const levels: Record<string, Parameters<typeof paint>[0]> = {
  trace: 'dim',
  debug: 'dim',
  info: 'green',
  warn: 'yellow',
  error: 'red',
  fatal: 'red',
}

interface LogRecord {
  level: string
  time: string
  msg?: string
  err?: { stack?: string; message?: string }
}

/** Returns the lines for people of one line of a service's log. Returns other lines, such as errors of Node, unchanged. */
export function readableLines(line: string): string[] {
  const record = parse(line)
  if (!record) return [line]
  // The prefix of the line already names the service.
  const { level, time, msg = '', err, app: _, ...fields } = record
  const texts = Object.entries(fields).map(([name, value]) => paint('dim', `${name}=${textOf(value)}`))
  // The clock of this machine, as in other lines of a terminal.
  const clock = new Date(time).toTimeString().slice(0, 8) + time.slice(19, 23)
  const first = [paint('dim', clock), paint(levels[level] ?? 'dim', level.padEnd(5)), msg, ...texts].join(' ')
  return [first, ...(err?.stack ?? err?.message ?? '').split('\n').filter(Boolean)]
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

function parse(line: string): (LogRecord & Record<string, unknown>) | undefined {
  const record = line.startsWith('{') ? objectIn(line) : undefined
  const isRecord = typeof record?.level === 'string' && typeof record.time === 'string'
  return isRecord ? (record as LogRecord & Record<string, unknown>) : undefined
}
