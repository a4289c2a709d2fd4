import { setTimeout as delay } from 'node:timers/promises'
import type { Background } from './define-service.ts'

/**
 * Runs a work at an interval until the service stops. It never runs twice at the same time.
 * @param onFailure receives the error of a run; the next run follows
 * @param atStop runs at the end, in place of a last run of the work
 */
export function repeating(
  work: () => Promise<void>,
  intervalMs: number,
  onFailure: (error: unknown) => void,
  atStop = work,
): Background {
  const stopping = new AbortController()
  let running = Promise.resolve()

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await work().catch(onFailure)
      await delay(intervalMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
    }
  }
  return {
    start() {
      running = run()
    },
    async stop() {
      stopping.abort()
      await running
      await atStop().catch(onFailure)
    },
  }
}
