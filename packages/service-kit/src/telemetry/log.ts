import { writeSync } from 'node:fs'
import { type DestinationStream, type Logger as PinoLogger, pino, stdSerializers, stdTimeFunctions } from 'pino'
import { handled, idsOf } from './context.ts'
import { createMask, type Mask } from './mask.ts'

export type Logger = PinoLogger & { readonly mask: Mask }

/**
 * Creates a log that writes one JSON line for each message. Lines about an event or a request have its ids. Every line is masked, in case a payload
 * is logged by mistake.
 * @param destination standard output by default
 */
export function createLog(name: string, level: string, destination: DestinationStream = logOutput(1)): Logger {
  const mask = createMask()
  const options = {
    level,
    base: { app: name },
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    mixin: () => idsOf(handled()),
    serializers: { err: describeError },
    hooks: { streamWrite: mask.line },
  }
  return Object.assign(pino(options, destination), { mask })
}

/** Returns type, message and stack of an error. Its other fields may contain whole bodies. */
function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error }
  const { type, message, stack } = stdSerializers.err(error)
  return { type, message, stack }
}

export const stackOf = (error: Error): string => stdSerializers.err(error).stack

const retryMs = 10
const pause = new Int32Array(new SharedArrayBuffer(4))

/**
 * Writes log lines to a file descriptor synchronously.
 *
 * With pino's own destination, a full disk would end the service. This destination drops lines until it can write again, and then reports their
 * number.
 */
function logOutput(descriptor: number): DestinationStream {
  let lost = 0
  let reason = ''
  /** True if the last line is incomplete. The next write then begins with a line break. */
  let isCut = false

  function write(line: string): boolean {
    const bytes = Buffer.from(isCut ? `\n${line}` : line)
    let written = 0
    while (written < bytes.length) {
      try {
        written += writeSync(descriptor, bytes, written)
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException
        if (code === 'EAGAIN') Atomics.wait(pause, 0, 0, retryMs)
        else {
          isCut ||= written > 0
          reason = message
          return false
        }
      }
    }
    isCut = false
    return true
  }

  return {
    write(line) {
      if (lost > 0 && write(lostLine(lost, reason))) lost = 0
      if (lost > 0 || !write(line)) lost += 1
    },
  }
}

function lostLine(count: number, reason: string): string {
  const time = new Date().toISOString()
  const record = { level: 'warn', time, msg: `${count} lines of this log are lost: ${reason}` }
  return `${JSON.stringify(record)}\n`
}
