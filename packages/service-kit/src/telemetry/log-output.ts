import { writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'

/** A pipe whose reader is slow is tried again this often. */
const retryMs = 10
const pause = new Int32Array(new SharedArrayBuffer(4))

/**
 * Writes log lines to a file descriptor, each before the next statement runs.
 *
 * A service must not end because its log cannot be written: with pino's own destination, a full disk ends the process, or keeps it in an
 * endless loop as it ends. A line that cannot be written is dropped, and the next one that can be written is preceded by their number.
 */
export function logOutput(descriptor: number): DestinationStream {
  let lost = 0
  let reason = ''
  /** A line was cut off: what comes next begins on a line of its own. */
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
  const record = {
    level: 'warn',
    time: new Date().toISOString(),
    msg: `${count} lines of this log are lost: ${reason}`,
  }
  return `${JSON.stringify(record)}\n`
}
