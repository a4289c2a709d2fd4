import type { Sidecar } from '../../sidecar/sidecar.ts'
import type { StoreWatch } from '../../state/store-watch.ts'
import { unsuitable } from '../../state/unit-of-work.ts'
import type { Part, Readiness } from '../../web/web.ts'
import type { StreamCheck } from './stream-check.ts'

/**
 * Creates the check that the sidecar, the store and the stream are ready.
 * @param stoppedBy returns the reason if the service no longer consumes a topic
 * @param watch reports whether the store lost writes, and whether events wait for a comparison
 */
export function createReadiness(
  sidecar: Pick<Sidecar, 'fault' | 'store' | 'storeFault'>,
  stream: StreamCheck,
  stoppedBy: () => string | undefined = () => undefined,
  watch: Pick<StoreWatch, 'fault' | 'waits'> = { fault: async () => undefined, waits: () => undefined },
): Readiness {
  const checks = {
    sidecar: () => sidecar.fault(),
    // An error of `store` is ignored, because `fault` already reports a sidecar that does not answer.
    store: async () => {
      const [fault, wrong, lostWrites] = await Promise.all([
        sidecar.storeFault(),
        sidecar.store().then(unsuitable, () => undefined),
        watch.fault(),
      ])
      return fault ?? wrong ?? lostWrites
    },
    stream: async () => stoppedBy() ?? (await stream()) ?? watch.waits(),
  }
  return async (excluded = new Set()) => {
    const asked = Object.entries(checks).filter(([part]) => !excluded.has(part as Part))
    const reasons = await Promise.all(asked.map(async ([part, check]) => [part, await check()]))
    return Object.fromEntries(reasons.filter(([, reason]) => reason !== undefined))
  }
}
