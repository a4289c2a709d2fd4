import { type Logger, pino, stdTimeFunctions } from 'pino'

export type { Logger }

const personal = ['customerTaxId', 'CustomerTaxId']
const secret = ['token', 'Token', 'password', 'ConnectionString', 'authorization']

/**
 * One JSON line per record on standard output. Payloads are not logged at all; should one slip in, tax ids and
 * credentials are masked down to the third level.
 */
export function createLog(name: string, level: string): Logger {
  const keys = [...personal, ...secret]
  const paths = keys.flatMap((key) => [key, `*.${key}`, `*.*.${key}`])
  return pino({
    level,
    base: { app: name },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths, censor: '***' },
  })
}
