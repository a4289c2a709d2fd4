import { type DestinationStream, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino'
import { handled, idsOf } from './handling.ts'
import { logOutput } from './log-output.ts'
import { maskedLine } from './mask.ts'

export type { Logger }

/**
 * One JSON line per record. Payloads are not logged at all; should one slip in, it is masked, as all of a line is: where it is written, so
 * that nothing gets past, and what is not logged costs nothing. While an event or a request is handled, each line has its ids.
 * @param destination standard output unless told
 */
export function createLog(name: string, level: string, destination: DestinationStream = logOutput(1)): Logger {
  const options = {
    level,
    base: { app: name },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    mixin: () => idsOf(handled()),
    serializers: { err: describeError },
    hooks: { streamWrite: maskedLine },
  }
  return pino(options, destination)
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
