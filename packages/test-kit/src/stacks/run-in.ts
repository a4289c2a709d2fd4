import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** The result of a program. `code` is its exit code. */
export interface Ended {
  code: number
  stdout: string
  stderr: string
}

/**
 * Runs a program with an empty standard input, and waits for its end. Returns the exit code, even if the program fails.
 * @param env additional variables
 */
export function runIn(cwd: string, command: string, args: string[], env: Record<string, string> = {}): Promise<Ended> {
  const running = promisify(execFile)(command, args, { cwd, env: { ...process.env, ...env } })
  // A program that reads its standard input would otherwise wait forever.
  running.child.stdin?.end()
  return running.then(({ stdout, stderr }) => ({ code: 0, stdout, stderr })).catch((error: Ended) => error)
}
