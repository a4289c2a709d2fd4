import { setTimeout as sleep } from 'node:timers/promises'
import { CliError } from './error.ts'

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
