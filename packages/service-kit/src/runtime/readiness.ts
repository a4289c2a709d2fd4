import type { Sidecar } from '../sidecar/sidecar.ts'
import { unsuitable } from '../state/unit-of-work.ts'
import type { Readiness } from '../web/health.ts'
import type { StreamCheck } from './stream-check.ts'

/**
 * What a service needs in order to work: its sidecar, a store that it knows behind it, and the stream. All are asked at once.
 * @param stoppedBy why the service itself stopped consuming a topic
 */
export function createReadiness(
  sidecar: Pick<Sidecar, 'missing' | 'storeType'>,
  stream: StreamCheck,
  stoppedBy: () => string | undefined = () => undefined,
): Readiness {
  return async () => {
    const [missing, store, streamMissing] = await Promise.all([
      sidecar.missing(),
      // Who cannot be asked is missing anyway.
      sidecar.storeType().then(unsuitable, () => undefined),
      stream(),
    ])
    const stopped = stoppedBy() ?? streamMissing
    return { ...(store && { store }), ...missing, ...(stopped !== undefined && { stream: stopped }) }
  }
}
