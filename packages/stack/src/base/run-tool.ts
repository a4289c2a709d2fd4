import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { CliError } from './error.ts'

export interface RunToolOptions {
  cwd: string
  /** The variables to inherit, by default those of this process. */
  environment?: NodeJS.ProcessEnv
  /** Variables to set. The value undefined removes a variable. */
  env?: Record<string, string | undefined>
  onLine?: (line: string) => void
  signal?: AbortSignal | undefined
}

/**
 * Runs a program and returns its standard output.
 * @throws {CliError} `provision-failed` with the last lines of its output, `interrupted` if the signal aborts
 */
export async function runTool(command: string, args: string[], options: RunToolOptions): Promise<string> {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: { ...(options.environment ?? process.env), ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const abort = () => child.kill('SIGINT')
  options.signal?.addEventListener('abort', abort)
  if (options.signal?.aborted) abort()
  let output = ''
  const last: string[] = []
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
  })
  createInterface({ input: child.stdout }).on('line', (line) => options.onLine?.(line))
  createInterface({ input: child.stderr }).on('line', (line) => {
    last.push(line)
    if (last.length > 20) last.shift()
    options.onLine?.(line)
  })
  const [status, killedBy] = await once(child, 'close').finally(() =>
    options.signal?.removeEventListener('abort', abort),
  )
  if (options.signal?.aborted) throw new CliError('interrupted', 'interrupted')
  if (status === 0) return output
  const printed = [...output.trim().split('\n').slice(-20), ...last].filter(Boolean).join('\n')
  throw new CliError('provision-failed', `${command} ${args[0]} failed (${status ?? killedBy}):\n${printed}`)
}

const everyMs = 10_000

/** Prints `NAME: 20 s, DETAIL` every ten seconds until `work` ends. */
export async function withHeartbeat<Result>(
  name: string,
  { onProgress, detail }: { onProgress: (line: string) => void; detail: () => string },
  work: () => Promise<Result>,
): Promise<Result> {
  const startedAt = Date.now()
  const timer = setInterval(() => {
    onProgress(`${name}: ${Math.round((Date.now() - startedAt) / 1000)} s, ${detail()}`)
  }, everyMs)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

/** Returns the Java of `JAVA_HOME`, because Maven uses it, too. Without `JAVA_HOME`, returns the Java in `PATH`. */
export function javaCommand(env: NodeJS.ProcessEnv = process.env): string {
  const atHome = join(env.JAVA_HOME ?? '', 'bin/java')
  return env.JAVA_HOME && existsSync(atHome) ? atHome : 'java'
}

/** @param env all variables of the program */
export function runInTerminal(command: string, args: string[], env: NodeJS.ProcessEnv = process.env): number {
  const { status, error } = spawnSync(command, args, { env, stdio: 'inherit' })
  if (error) throw error
  // If there is no exit code, a signal ended the program, usually that of Ctrl-C.
  return status ?? 130
}
