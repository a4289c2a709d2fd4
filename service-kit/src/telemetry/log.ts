import { type DestinationStream, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino'

export type { Logger }

const personal = ['customerName', 'CustomerName', 'customerTaxId', 'CustomerTaxId']
const secret = ['token', 'Token', 'password', 'ConnectionString', 'authorization']

/**
 * One JSON line per record, on standard output unless told. Payloads are not logged at all; should one slip in, names,
 * tax ids and credentials are masked down to the third level.
 */
export function createLog(name: string, level: string, destination?: DestinationStream): Logger {
  const keys = [...personal, ...secret]
  const paths = keys.flatMap((key) => [key, `*.${key}`, `*.*.${key}`])
  const options = {
    level,
    base: { app: name },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError },
    redact: { paths, censor: '***' },
  }
  return destination ? pino(options, destination) : pino(options)
}

/** No other fields of an error: libraries hang whole bodies and documents on them. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error }
  const { type, message, stack } = stdSerializers.err(error)
  return { type, message, stack }
}
