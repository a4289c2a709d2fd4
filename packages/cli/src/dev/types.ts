import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { stripVTControlCharacters } from 'node:util'
import { repository } from '../lib/paths.ts'

/** The niceness of the compiler, so that services restart first. */
const niceness = 10

/** Checks the types at each change, and prints the errors, until `signal` aborts. */
export async function watchTypes(print: (line: string) => void, signal: AbortSignal): Promise<void> {
  const compiler = join(repository, 'node_modules/typescript/bin/tsc')
  const args = ['--noEmit', '--watch', '--preserveWatchOutput', '--pretty', String(process.stdout.isTTY ?? false)]
  const tsc = spawn(process.execPath, [compiler, ...args], { cwd: repository, stdio: ['ignore', 'pipe', 'pipe'] })
  const stop = () => tsc.kill()
  signal.addEventListener('abort', stop)
  if (tsc.pid) setPriority(tsc.pid, niceness)
  for (const input of [tsc.stdout, tsc.stderr]) {
    createInterface({ input }).on('line', (line) => {
      const text = reportOf(line)
      if (text) print(text)
    })
  }
  await once(tsc, 'close')
  if (!signal.aborted) print('the compiler has ended; end make dev and start it again to check types')
}

/** Returns a line of the compiler without its time. Returns undefined for empty lines, and for the beginning of a check. */
export function reportOf(line: string): string | undefined {
  const [, report] = /^\[?\d+:\d+:\d+ [AP]M\]?(?: -)? (.*)$/.exec(stripVTControlCharacters(line)) ?? []
  if (report === undefined) return line.trim() === '' ? undefined : line
  return /^(Starting|File change)/.test(report) ? undefined : report.replace(' Watching for file changes.', '')
}
