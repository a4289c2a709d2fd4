/** The queue is full: nothing was done, and the caller may try again after `retryAfterSeconds`. */
export class OverloadError extends Error {
  readonly code = 'overload'
  readonly retryAfterSeconds = 1
  constructor(waiting: number) {
    super(`${waiting} requests are waiting already`)
    this.name = 'OverloadError'
  }
}

export type Settled<R> = { ok: true; value: R } | { ok: false; error: unknown }

export interface BatcherOptions<T, R> {
  /** Does the work of a batch and answers in the same order. A throw fails the whole batch. */
  flush: (items: T[]) => Promise<Settled<R>[]>
  /** Bytes an item adds to a batch. */
  sizeOf: (item: T) => number
  maxItems: number
  /** A batch stays below this, unless a single item is larger. */
  maxBytes: number
  /** Items that may wait before `OverloadError`. */
  maxWaiting: number
}

/**
 * Group commit: items that arrive while a flush is under way share the next one. One flush at a time, so batches
 * keep the order of arrival; an idle batcher flushes at the end of the current tick, so nobody waits for a timer.
 */
export function createBatcher<T, R>(options: BatcherOptions<T, R>): (item: T) => Promise<R> {
  const waiting: { item: T; settle: (result: Settled<R>) => void }[] = []
  let flushing = false

  function take() {
    let bytes = 0
    let count = 0
    for (const { item } of waiting) {
      bytes += options.sizeOf(item)
      if (count > 0 && (count === options.maxItems || bytes > options.maxBytes)) break
      count += 1
    }
    return waiting.splice(0, count)
  }

  async function run() {
    while (waiting.length > 0) {
      const batch = take()
      const results = await options.flush(batch.map(({ item }) => item)).catch((error: unknown) => {
        return batch.map((): Settled<R> => ({ ok: false, error }))
      })
      for (const [index, { settle }] of batch.entries()) {
        settle(results[index] ?? { ok: false, error: new Error('the flush answered fewer items than it was given') })
      }
    }
    flushing = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= options.maxWaiting) return reject(new OverloadError(waiting.length))
      waiting.push({ item, settle: (result) => (result.ok ? resolve(result.value) : reject(result.error)) })
      if (flushing) return
      flushing = true
      setImmediate(run)
    })
}
