import { type BatcherOptions, createBatcher, type Settled } from '../../src/sidecar/batcher.ts'

export const double = async (items: number[]) => items.map((item): Settled<number> => ({ ok: true, value: item * 2 }))
export const recordingIn = (batches: number[][]) => async (items: number[]) => {
  batches.push(items)
  return double(items)
}
export const batcherOf = (options: Partial<BatcherOptions<number, number>>) =>
  createBatcher<number, number>({
    flush: double,
    isRefusal: () => false,
    sizeOf: () => 1,
    maxItems: 100,
    maxBytes: 100,
    maxWaiting: 100,
    minIntervalMs: 0,
    ...options,
  })

/** Returns a batcher of single items whose flush ends only when the test ends it. */
export function slowBatcher(options: Partial<BatcherOptions<number, number>> = {}) {
  let done = () => {}
  const add = batcherOf({
    ...options,
    maxItems: 1,
    async flush(items) {
      await new Promise<void>((resolve) => {
        done = resolve
      })
      return double(items)
    },
  })
  return { add, endFlush: () => done() }
}
