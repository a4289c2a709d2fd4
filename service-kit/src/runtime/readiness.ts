import type { Sidecar } from '../sidecar/sidecar.ts'
import type { Readiness } from '../web/health.ts'
import type { StreamCheck } from './stream-check.ts'

/** What a service needs in order to work: its sidecar, the store behind it, and the stream. All are asked at once. */
export function createReadiness(sidecar: Pick<Sidecar, 'missing'>, stream: StreamCheck): Readiness {
  return async () => {
    const [missing, streamMissing] = await Promise.all([sidecar.missing(), stream()])
    return { ...missing, ...(streamMissing !== undefined && { stream: streamMissing }) }
  }
}
