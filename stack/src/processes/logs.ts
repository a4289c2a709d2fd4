import { spawn } from 'node:child_process'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { StackError } from '../lib/error.ts'
import { logFile, processNames } from './plan.ts'

/** Enough for any number of lines we show. */
const tailBytes = 64 * 1024

/** The last lines of a process's log, or a note that there is none. */
export function logTail(folder: string, name: string, lines: number): string {
  try {
    const file = openSync(logFile(folder, name), 'r')
    try {
      const start = Math.max(0, fstatSync(file).size - tailBytes)
      const buffer = Buffer.alloc(tailBytes)
      const length = readSync(file, buffer, 0, tailBytes, start)
      return buffer.toString('utf8', 0, length).trimEnd().split('\n').slice(-lines).join('\n')
    } finally {
      closeSync(file)
    }
  } catch {
    return '(no log yet)'
  }
}

/** Shows a log's end and what is added to it, until interrupted. */
export async function followLog(folder: string, name: string): Promise<void> {
  requireProcessName(name)
  const tail = spawn('tail', ['-n', '40', '-F', logFile(folder, name)], { stdio: ['ignore', 'inherit', 'ignore'] })
  await new Promise((resolve) => tail.once('close', resolve))
}

function requireProcessName(name: string): void {
  if (processNames.includes(name)) return
  throw new StackError('usage', `there is no process ${name}`, {
    nextStep: `SERVICE is one of ${processNames.join(', ')}`,
  })
}
