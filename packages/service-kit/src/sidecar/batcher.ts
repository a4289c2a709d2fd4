import { setTimeout as delay } from 'node:timers/promises'
import { handled, onBehalfOf, type Span } from '../telemetry/context.ts'

/** The queue is full, or the item waited too long in it. The step was not begun, and may be tried again. */
export class OverloadError extends Error {
  readonly code = 'overload'
  constructor(message: string) {
    super(message)
    this.name = 'OverloadError'
  }
}

export type Settled<R> = { ok: true; value: R } | { ok: false; error: unknown }

/** Receives what a queue does. */
export interface QueueWatch {
  /** Called once. `waiting` returns how many items wait. */
  opened: (waiting: () => number) => void
  /** Called after each batch. `waitedMs`: how long its first item waited. `tookMs`: how long the batch took, with all attempts. */
  flushed: (items: number, waitedMs: number, tookMs: number) => void
}

export interface BatcherOptions<T, R> {
  /**
   * Does the work of a batch and answers in the same order. A throw fails the whole batch and the next one is of one item,
   * unless it is a refusal.
   */
  flush: (items: T[]) => Promise<Settled<R>[]>
  /** True for an error that some item of the batch must be the reason of: it is found by halving. */
  isRefusal: (error: unknown) => boolean
  /** Bytes an item adds to a batch. */
  sizeOf: (item: T) => number
  maxItems: number
  /** A batch stays below this, unless a single item is larger. */
  maxBytes: number
  /** Items that may wait before `OverloadError`. */
  maxWaiting: number
  /** From the beginning of a flush to the next one, unless that is full. */
  minIntervalMs: number
  /** Flushes at the same time, 1 by default. With more of them, batches may end in another order than that of arrival. */
  maxInFlight?: number
  watch?: QueueWatch | undefined
}

/** A client that waited longer has given up, and would not expect the work to be done. */
const maxWaitMs = 5_000
/** A flush may hang for longer. Meanwhile, items that wait behind it are checked at this interval. */
const lateCheckMs = 1_000

/**
 * Group commit: items that arrive while all flushes are under way, or within `minIntervalMs` of the last one's beginning, share
 * the next one. With one flush at a time batches keep the order of arrival; a batcher that was idle flushes at the end of the current
 * tick.
 */
export function createBatcher<T, R>(options: BatcherOptions<T, R>): (item: T) => Promise<R> {
  const waiting: { item: T; since: number; span: Span | undefined; settle: (result: Settled<R>) => void }[] = []
  const maxInFlight = options.maxInFlight ?? 1
  const inFlight = new Set<Promise<void>>()
  let running = false
  let begun = Number.NEGATIVE_INFINITY
  /** Items that the next flush may have: one after a failure, which tries whether it works again, then twice as many each time. */
  let room = options.maxItems
  let outage: unknown
  options.watch?.opened(() => waiting.length)

  function dropLate(now: number) {
    const inTime = waiting.findIndex(({ since }) => since + maxWaitMs >= now)
    for (const { settle } of waiting.splice(0, inTime < 0 ? waiting.length : inTime)) {
      settle({ ok: false, error: new OverloadError(`not begun within ${maxWaitMs} ms`) })
    }
  }

  function nextBatch() {
    let bytes = 0
    let count = 0
    for (const { item } of waiting) {
      bytes += options.sizeOf(item)
      if (count > 0 && (count === room || bytes > options.maxBytes)) break
      count += 1
    }
    return waiting.splice(0, count)
  }

  async function flush(items: T[]): Promise<Settled<R>[]> {
    try {
      const results = await options.flush(items)
      room = Math.min(room * 2, options.maxItems)
      return results
    } catch (error) {
      const isRefusal = options.isRefusal(error)
      if (!isRefusal) [room, outage] = [1, error]
      if (items.length === 1 || !isRefusal) return items.map(() => ({ ok: false, error }))
      const half = Math.ceil(items.length / 2)
      const [first, others] = [await flush(items.slice(0, half)), items.slice(half)]
      return [...first, ...(room > 1 ? await flush(others) : others.map(() => ({ ok: false as const, error: outage })))]
    }
  }

  async function settle(batch: typeof waiting) {
    const begunAt = performance.now()
    const spans = batch.map(({ span }) => span)
    const results = await onBehalfOf(spans, () => flush(batch.map(({ item }) => item)))
    const waitedMs = begunAt - (batch[0]?.since ?? begunAt)
    options.watch?.flushed(batch.length, waitedMs, performance.now() - begunAt)
    for (const [index, { settle }] of batch.entries()) {
      settle(results[index] ?? { ok: false, error: new Error('the flush answered fewer items than it was given') })
    }
  }

  async function run() {
    const lateCheck = setInterval(() => dropLate(performance.now()), lateCheckMs).unref()
    while (waiting.length > 0) {
      let now = performance.now()
      const pauseMs = begun + options.minIntervalMs - now
      if (pauseMs > 0 && (room === 1 || waiting.length < room)) {
        await delay(pauseMs)
        now = performance.now()
      }
      begun = now
      dropLate(now)
      const batch = nextBatch()
      if (batch.length === 0) break
      const flight = settle(batch).finally(() => inFlight.delete(flight))
      inFlight.add(flight)
      // After a failure one flush at a time tries whether it works again.
      while (inFlight.size >= (room === 1 ? 1 : maxInFlight)) await Promise.race(inFlight)
    }
    clearInterval(lateCheck)
    running = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= options.maxWaiting)
        return reject(new OverloadError(`${waiting.length} are waiting already`))
      waiting.push({
        item,
        since: performance.now(),
        span: handled()?.span,
        settle: (result) => (result.ok ? resolve(result.value) : reject(result.error)),
      })
      if (running) return
      running = true
      setImmediate(run)
    })
}
