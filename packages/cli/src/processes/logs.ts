import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { hasNoSpace } from '../lib/files.ts'
import { type LogOptions, logLines, paint, print } from '../lib/terminal.ts'
import { dataFolder, logFile } from './plan.ts'

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

/**
 * Shows the end of these processes' logs, each line after the process's name, and what follows until `signal` or nobody
 * reads on.
 */
export async function showLogs(
  folder: string,
  names: readonly string[],
  { follow, signal }: LogOptions,
): Promise<void> {
  const width = names.reduce((most, name) => Math.max(most, name.length), 0)
  const show = (name: string) => {
    const colour = colours[names.indexOf(name) % colours.length] ?? 'cyan'
    const prefix = paint(colour, `${name.padEnd(width)} |`)
    return printTail(logFile(folder, name), { follow, signal, prefix })
  }
  if (follow) await Promise.all(names.map(show))
  else for (const name of names) await show(name)
}

/** Not red, which is for what is wrong. */
const colours = [
  'cyan',
  'yellow',
  'green',
  'magenta',
  'blue',
  'cyanBright',
  'yellowBright',
  'greenBright',
  'magentaBright',
] as const

/**
 * Follows a file by its name (-F), since `./orderflow clean` removes it and `make up` makes another. It need not exist
 * yet.
 */
async function printTail(file: string, { follow, signal, prefix }: LogOptions & { prefix: string }): Promise<void> {
  if (!existsSync(file)) print(`${prefix} (no log yet)`)
  const args = ['-n', String(logLines), ...(follow ? ['-F'] : []), file]
  const tail = spawn('tail', args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const stop = () => tail.kill()
  signal.addEventListener('abort', stop)
  process.stdout.once('error', stop)
  createInterface({ input: tail.stdout }).on('line', (line) => print(`${prefix} ${line}`))
  await once(tail, 'close')
}

/** A server prints a stack or two after the reason. */
const lastLines = 60

/**
 * Returns the disk whose lack of space ended a process, as far as its log and the disks tell; undefined for another reason. On a full disk
 * the last lines of a log may be missing, so the disks are asked as well.
 */
export function fullDiskOf(folder: string, name: string): string | undefined {
  const isInLog = /no space left|disk is full/i.test(logTail(folder, name, lastLines))
  if (isInLog || hasNoSpace(dataFolder(folder))) return dataFolder(folder)
  return hasNoSpace(logFile(folder, name)) ? logFile(folder, name) : undefined
}
