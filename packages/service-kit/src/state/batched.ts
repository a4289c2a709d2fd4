import { type BatcherOptions, createBatcher, type Settled } from '../sidecar/batcher.ts'
import { isRefusal } from '../sidecar/sidecar.ts'
import type { UnitOfWork, Work } from './work.ts'

/** How often a batch is decided before it is left to be tried later. */
export const maxAttempts = 8
const limits = { maxBytes: 4 * 1024 * 1024, maxWaiting: 10_000 }

/** Has works that are asked for at the same time share a flush. */
export function batched(
  flush: (works: Work<unknown>[]) => Promise<Settled<unknown>[]>,
  pace: Pick<BatcherOptions<unknown, unknown>, 'maxItems' | 'minIntervalMs' | 'maxInFlight' | 'watch'>,
): UnitOfWork {
  const queue = createBatcher({ flush, isRefusal, sizeOf: (work: Work<unknown>) => work.bytes, ...limits, ...pace })
  return <R>(work: Work<R>) => queue(work) as Promise<R>
}
