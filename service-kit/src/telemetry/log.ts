import { type DestinationStream, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino'

export type { Logger }

const secret = ['token', 'Token', 'password', 'ConnectionString', 'authorization']

export interface LogOptions {
  /** Names of the fields that hold personal data in this service's domain; case matters. */
  personal?: readonly string[]
  /** Standard output unless told. */
  destination?: DestinationStream
}

/**
 * One JSON line per record. Payloads are not logged at all; should one slip in, what is personal and credentials are masked down
 * to the third level.
 */
export function createLog(name: string, level: string, { personal = [], destination }: LogOptions = {}): Logger {
  const paths = [...personal, ...secret].flatMap((key) => [key, `*.${key}`, `*.*.${key}`])
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

/** Where an error comes from, and where its causes do. */
export function stackOf(error: Error): string {
  return stdSerializers.err(error).stack
}
