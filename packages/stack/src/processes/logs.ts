import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { localFolder } from '../application/paths.ts'
import { hasNoSpace } from '../base/files.ts'
import { type LogOptions, logLines, paint, print } from '../base/terminal.ts'
import { dataFolder, logFile, type ProcessName, processNamesWith, serversOf } from './plan.ts'
import { recordedNames } from './process/control.ts'

const tailBytes = 64 * 1024

/** Returns the names of the stack's processes, and of all others that have run. */
export const presentNames = (): ProcessName[] => [
  ...new Set([...processNamesWith(serversOf(localFolder)), ...recordedNames(localFolder)]),
]

export const logNames = async (): Promise<ProcessName[]> => presentNames()

/** Returns the end of a log, or a note if the log is missing. */
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

/** Prints the end of logs. With `follow`, it prints new lines until `signal` aborts or the output is closed. */
export async function showLogs(folder: string, names: readonly string[], options: LogOptions): Promise<void> {
  const prefixOf = prefixesOf(names)
  const show = (name: string) => printTail(logFile(folder, name), { ...options, prefix: prefixOf(name) })
  if (options.follow) await Promise.all(names.map(show))
  else for (const name of names) await show(name)
}

/** Returns a function that returns the coloured prefix of a log's lines. All prefixes have the same width. */
export function prefixesOf(names: readonly string[]): (name: string) => string {
  const width = names.reduce((most, name) => Math.max(most, name.length), 0)
  return (name) => paint(colours[names.indexOf(name) % colours.length] ?? 'cyan', `${name.padEnd(width)} |`)
}

/** Red is reserved for errors. */
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

interface TailOptions extends LogOptions {
  prefix: string
  /** The number of last lines to print first. */
  lines?: number
  linesOf?: (line: string) => readonly string[]
}

/**
 * Prints the end of a log, and with `follow` its new lines until `signal` aborts or the output is closed. Follows a file by name (-F), because `./orderflow clean` removes the file and `make up`
 * creates it again.
 */
export async function printTail(file: string, { follow, signal, prefix, lines, linesOf }: TailOptions): Promise<void> {
  if (!existsSync(file)) print(`${prefix} (no log yet)`)
  const args = ['-n', String(lines ?? logLines), ...(follow ? ['-F'] : []), file]
  const tail = spawn('tail', args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const stop = () => tail.kill()
  signal.addEventListener('abort', stop)
  process.stdout.once('error', stop)
  createInterface({ input: tail.stdout }).on('line', (line) => {
    for (const text of linesOf?.(line) ?? [line]) print(`${prefix} ${text}`)
  })
  await once(tail, 'close')
}

/** The number of last lines in which a log may name the full disk. A server prints stack traces after this message. */
const lastLines = 60

/** Returns a path on the full disk that ended a process. Checks the log and the disks, because a full disk may cut off the end of the log. */
export function fullDiskOf(folder: string, name: string): string | undefined {
  const isInLog = /no space left|disk is full/i.test(logTail(folder, name, lastLines))
  if (isInLog || hasNoSpace(dataFolder(folder))) return dataFolder(folder)
  return hasNoSpace(logFile(folder, name)) ? logFile(folder, name) : undefined
}
