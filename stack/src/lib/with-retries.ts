import { setTimeout as sleep } from 'node:timers/promises'
import { StackError } from './error.ts'

const timeoutMs = 60_000

/**
 * Tries again, twice a second, what a server that is still starting refuses.
 * @throws {StackError} `not-ready` with the last error after a minute
 */
export async function withRetries<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    try {
      return await work()
    } catch (cause) {
      if (cause instanceof StackError) throw cause
      if (Date.now() > deadline) {
        throw new StackError('not-ready', `${what} is not ready after ${timeoutMs / 1000} s: ${cause}`, { cause })
      }
      await sleep(500)
    }
  }
}
