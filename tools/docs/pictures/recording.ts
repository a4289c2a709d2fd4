import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A printed line with its colours and its time in milliseconds since the start. */
export interface RecordedLine {
  at: number
  text: string
}

/** The time from a command to its first line of output, in which viewers read the command. */
const readingMs = 1000

/**
 * Runs the commands in turn, as a user would, and returns the lines of the terminal.
 * @throws {Error} with all output if a command fails
 */
export async function record(commands: string[], cwd: string): Promise<RecordedLine[]> {
  const lines: RecordedLine[] = []
  // Leaves out these variables, because they make `make` print the names of folders.
  const { MAKELEVEL: _level, MAKEFLAGS: _flags, ...env } = process.env
  let startsAt = 0
  for (const command of commands) {
    lines.push({ at: startsAt, text: `\x1b[1m$ ${command}\x1b[22m` })
    const startedAt = performance.now() - startsAt - readingMs
    const child = spawn('sh', ['-c', `exec 2>&1; ${command}`], {
      cwd,
      env: { ...env, FORCE_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(child, 'close')
    for await (const text of createInterface(child.stdout)) lines.push({ at: performance.now() - startedAt, text })
    const [code] = await ended
    if (code !== 0) throw new Error(`${command} ended with ${code}:\n${lines.map(({ text }) => text).join('\n')}`)
    startsAt = performance.now() - startedAt + readingMs
    lines.push({ at: startsAt, text: '' })
  }
  return lines.slice(0, -1)
}
