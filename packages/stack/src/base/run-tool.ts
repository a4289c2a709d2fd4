import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
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

interface PollOptions {
  timeoutMs: number
  /** The shortest pause between two calls, in milliseconds. */
  everyMs?: number
  signal?: AbortSignal | undefined
}

const startTimeoutMs = 60_000

/** The time that a call may always take, in milliseconds, even if the deadline is nearer. */
const leastAnswerMs = 1_000

/**
 * Calls `probe` until it returns neither undefined nor false. Returns undefined after `timeoutMs`, even if a call hangs.
 * @throws {CliError} `interrupted` if the signal aborts; also throws the errors of `probe`
 */
export async function poll<Answer>(
  probe: () => Answer | undefined | Promise<Answer | undefined>,
  { timeoutMs, everyMs = 20, signal }: PollOptions,
): Promise<Answer | undefined> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    if (signal?.aborted) throw new CliError('interrupted', 'interrupted')
    const begun = Date.now()
    const answer = await within(Math.max(deadline - begun, leastAnswerMs), probe())
    if (answer !== undefined && answer !== false) return answer
    const now = Date.now()
    if (now >= deadline) return undefined
    // Waits longer after a slow call, because programs that are starting need the processor.
    await pause(Math.min(Math.max(everyMs, 2 * (now - begun)), deadline - now), signal)
  }
}

/** @throws {CliError} `interrupted` if the signal aborts */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {
    throw new CliError('interrupted', 'interrupted')
  })
}

async function within<Answer>(ms: number, answer: Answer | Promise<Answer>): Promise<Answer | undefined> {
  const settled = new AbortController()
  try {
    return await Promise.race([answer, sleep(ms, undefined, { signal: settled.signal })])
  } finally {
    settled.abort()
  }
}

/** Throws an error that names `what` if `poll` returns no answer. */
export async function eventually<Answer>(
  probe: () => Answer | undefined | Promise<Answer | undefined>,
  what: string,
  timeoutMs = 60_000,
): Promise<Answer> {
  const answer = await poll(probe, { timeoutMs })
  if (answer === undefined) throw new Error(`timeout after waiting for ${what}: ${timeoutMs} ms`)
  return answer
}

/**
 * Repeats requests to a server that is starting.
 * @throws {CliError} `not-ready` with the last error after a minute; any CliError of `work` immediately
 */
export async function withRetries<Result>(what: string, work: () => Promise<Result>, everyMs = 500): Promise<Result> {
  let cause: unknown = 'no answer'
  const attempt = async () => {
    try {
      return { result: await work() }
    } catch (error) {
      if (error instanceof CliError) throw error
      cause = error
      return undefined
    }
  }
  const done = await poll(attempt, { timeoutMs: startTimeoutMs, everyMs })
  if (done) return done.result
  throw new CliError('not-ready', `${what} is not ready after ${startTimeoutMs / 1000} s: ${cause}`, { cause })
}
