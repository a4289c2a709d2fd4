import { setTimeout as delay } from 'node:timers/promises'
import type { Announcing } from '../state/announcing.ts'
import type { Logger } from '../telemetry/log.ts'

const intervalMs = 1_000

/** Sweeps every second until the service stops, and a last time when it stops, so that other processes need not wait for its register. */
export function createSweeping({ sweep }: Pick<Announcing, 'sweep'>, log: Pick<Logger, 'warn'>) {
  const stopping = new AbortController()
  let running = Promise.resolve()

  async function sweepOnce(): Promise<void> {
    await sweep().catch((err: unknown) => log.warn({ err }, 'stored events could not be announced; this is repeated'))
  }
  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await sweepOnce()
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
      await sweepOnce()
    },
  }
}
