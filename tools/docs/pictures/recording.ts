import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/** A line that a command printed, with its colours, and when: in milliseconds from the start of the recording. */
export interface RecordedLine {
  at: number
  text: string
}

/** How long a command stands there before its first line: about the time that it takes to read it. */
const readingMs = 1000

/**
 * Runs the commands one after the other, as a person would type them, and returns what a terminal shows.
 * @throws {Error} when one of them fails, with all that it printed
 */
export async function record(commands: string[], cwd: string): Promise<RecordedLine[]> {
  const lines: RecordedLine[] = []
  // A make that is started by another one tells of folders.
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
