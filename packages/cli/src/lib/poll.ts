import { setTimeout as sleep } from 'node:timers/promises'
import { CliError } from './error.ts'

interface PollOptions {
  timeoutMs: number
  /** Between two questions, at least. */
  everyMs?: number
  signal?: AbortSignal | undefined
}

/** The longest time that a part of the stack takes to start. */
const startTimeoutMs = 60_000

/** An answer is waited for as long, however little time there is. */
const leastAnswerMs = 1_000

/**
 * Asks `probe` until it answers something other than undefined or false, and returns that; undefined after `timeoutMs`. A question that
 * was asked in time has that long for its answer, too: a connection may hang, and whoever waits is promised an end.
 * @throws {CliError} `interrupted` when the signal aborts; and whatever `probe` throws
 */
export async function poll<Answer>(
  probe: () => Answer | undefined | Promise<Answer | undefined>,
  { timeoutMs, everyMs = 20, signal }: PollOptions,
): Promise<Answer | undefined> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    if (signal?.aborted) throw new CliError('interrupted', 'interrupted')
    const begun = Date.now()
    const answer = await within(Math.max(timeoutMs, leastAnswerMs), probe())
    if (answer !== undefined && answer !== false) return answer
    const now = Date.now()
    if (now > deadline) return undefined
    // A question that takes long is asked less often: what it waits for needs the processor, too.
    await sleep(Math.max(everyMs, 2 * (now - begun)))
  }
}

/** @throws {CliError} `interrupted` when the signal aborts */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {
    throw new CliError('interrupted', 'interrupted')
  })
}

/** Undefined when it takes longer. */
async function within<Answer>(ms: number, answer: Answer | Promise<Answer>): Promise<Answer | undefined> {
  const settled = new AbortController()
  try {
    return await Promise.race([answer, sleep(ms, undefined, { signal: settled.signal })])
  } finally {
    settled.abort()
  }
}

/** Polls as `poll` does, and throws an error with `what` after `timeoutMs`. */
export async function eventually<Answer>(
  probe: () => Answer | undefined | Promise<Answer | undefined>,
  what: string,
  timeoutMs = 60_000,
): Promise<Answer> {
  const answer = await poll(probe, { timeoutMs })
  if (answer === undefined) throw new Error(`${what}: not within ${timeoutMs} ms`)
  return answer
}

/**
 * Tries again what a server that is still starting refuses.
 * @throws {CliError} `not-ready` with the last error after a minute; at once what is a CliError already
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
