import { setTimeout as delay } from 'node:timers/promises'
import { timeLimit } from '../limits.ts'
import { handled, onBehalfOf, type Span } from '../telemetry/context.ts'
import { beginCall } from './handler-time.ts'
import { SidecarError } from './sidecar.ts'

/** Thrown if the queue is full, or if an item waited too long. The item's work has not begun, so callers may repeat it. */
export class OverloadError extends Error {
  readonly code = 'overload'
  override name = 'OverloadError'
}

/** Returns true if the sidecar failed, or the queue is full. Other errors are bugs. */
export const isPlatformFailure = (error: unknown): boolean =>
  error instanceof SidecarError || error instanceof OverloadError

export type Settled<R> = { ok: true; value: R } | { ok: false; error: unknown }

export interface QueueWatch {
  opened: (waiting: () => number) => void
  /** Called after each batch. `waitedMs` is the time for which the first item waited, and `tookMs` is the time that all attempts took. */
  flushed: (items: number, waitedMs: number, tookMs: number) => void
}

export interface BatcherOptions<T, R> {
  /** Executes a batch and returns the results in the order of the items. An error fails the whole batch. */
  flush: (items: T[]) => Promise<Settled<R>[]>
  /** Returns true for an error that one item of the batch causes. The batcher finds this item by halving the batch. */
  isRefusal: (error: unknown) => boolean
  sizeOf: (item: T) => number
  maxItems: number
  /** The largest size of a batch. An item above this size is flushed alone. */
  maxBytes: number
  maxWaiting: number
  /**
   * The shortest time between the beginnings of two flushes. A full batch may be flushed earlier. So may a batch whose events all have
   * later records that wait for them, because the pause would only delay their sequence.
   */
  minIntervalMs: number
  /** The number of concurrent flushes; the default is 1. Concurrent batches may end in another order than they began. */
  maxInFlight?: number
  /**
   * Returns an item's key. Items with the same key are flushed in their order, so they are never in two concurrent flushes. Items with other keys do not
   * wait for them.
   */
  keyOf?: (item: T) => string | undefined
  /** True if an outage that fails an item also fails the later items of its key, so that none of them overtakes it. */
  failsByKey?: boolean
  /** Receives each item that fails, before its caller learns of it and before later items are flushed. */
  onFailure?: (item: T) => void
  watch?: QueueWatch | undefined
}

/** The longest time for which an item may wait. After this time, clients have given up. */
const maxWaitMs = 5_000
/** The interval at which the queue drops items that waited too long, even while a flush hangs. */
const lateCheckMs = 1_000

interface Waiting<T, R> {
  item: T
  since: number
  span: Span | undefined
  /** True if later records wait until the event of this item is handled. */
  isFollowed: boolean
  settle: (result: Settled<R>) => void
}

/**
 * Creates a queue with group commit. Items that arrive during a flush, or within `minIntervalMs` after its start, share the next flush. If the queue
 * is idle, a new item is flushed at the end of the event loop's current turn.
 */
export function createBatcher<T, R>(options: BatcherOptions<T, R>): (item: T) => Promise<R> {
  let waiting: Waiting<T, R>[] = []
  const maxInFlight = options.maxInFlight ?? 1
  const inFlight = new Set<Promise<void>>()
  const keysInFlight = new Set<string | undefined>()
  let running = false
  let begun = Number.NEGATIVE_INFINITY
  /**
   * The largest number of items in the next flush. After a failure it is one, to test whether the platform works again. It doubles with each success.
   */
  let room = options.maxItems
  let outage: unknown
  let arrived = () => {}
  options.watch?.opened(() => waiting.length)

  function dropLate(now: number) {
    // Usually no item is late, whatever the limit is.
    if ((waiting[0]?.since ?? now) + maxWaitMs >= now) return
    const longestMs = timeLimit(maxWaitMs)
    const inTime = waiting.findIndex(({ since }) => since + longestMs >= now)
    const late = waiting.splice(0, inTime < 0 ? waiting.length : inTime)
    const result = { ok: false as const, error: new OverloadError(`no attempt began within ${longestMs} ms`) }
    end(late, Array(late.length).fill(result))
  }

  /** Returns the first items that may be flushed together. It leaves out items whose key is in flight. */
  function nextBatch(): typeof waiting {
    let bytes = 0
    const batch = new Set<Waiting<T, R>>()
    for (const each of waiting) {
      if (keysInFlight.has(options.keyOf?.(each.item))) continue
      bytes += options.sizeOf(each.item)
      if (batch.size > 0 && (batch.size === room || bytes > options.maxBytes)) break
      batch.add(each)
    }
    waiting = waiting.filter((each) => !batch.has(each))
    return [...batch]
  }

  function begin(batch: typeof waiting) {
    const keys = batch.flatMap(({ item }) => options.keyOf?.(item) ?? [])
    for (const key of keys) keysInFlight.add(key)
    const flight = settle(batch).finally(() => {
      for (const key of keys) keysInFlight.delete(key)
      inFlight.delete(flight)
    })
    inFlight.add(flight)
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

  /** The failures of keys whose callers perhaps do not know of them yet. Meanwhile, later items of these keys fail, too. */
  const failures = new Map<string, Settled<R>>()
  function failureOf(item: T): Settled<R> | undefined {
    const key = failures.size > 0 ? options.keyOf?.(item) : undefined
    return key === undefined ? undefined : failures.get(key)
  }

  /** Gives items their results. */
  function end(items: typeof waiting, results: readonly Settled<R>[]): void {
    for (const [index, result] of results.entries()) {
      if (result.ok || !options.failsByKey || options.isRefusal(result.error)) continue
      const key = options.keyOf?.((items[index] as Waiting<T, R>).item)
      if (key !== undefined) failures.set(key, result)
    }
    if (failures.size > 0) {
      const later = waiting.filter(({ item }) => failureOf(item))
      waiting = waiting.filter(({ item }) => !failureOf(item))
      for (const { item, settle } of later) settle(failureOf(item) as Settled<R>)
      // All callers learn of a failure before the next immediate.
      setImmediate(() => failures.clear())
    }
    for (const [index, { settle }] of items.entries())
      settle(results[index] ?? { ok: false, error: new Error('the flush returned fewer results than items') })
  }

  async function settle(batch: typeof waiting) {
    const begunAt = performance.now()
    const spans = batch.map(({ span }) => span)
    const results = await onBehalfOf(spans, () => flush(batch.map(({ item }) => item)))
    const waitedMs = begunAt - (batch[0]?.since ?? begunAt)
    options.watch?.flushed(batch.length, waitedMs, performance.now() - begunAt)
    end(batch, results)
  }

  function nextArrival(): Promise<void> {
    return new Promise((resolve) => {
      arrived = resolve
    })
  }

  async function run() {
    const lateCheck = setInterval(() => dropLate(performance.now()), lateCheckMs).unref()
    while (waiting.length > 0) {
      let now = performance.now()
      const pauseMs = begun + options.minIntervalMs - now
      const isSequence = waiting.every(({ isFollowed }) => isFollowed)
      if (pauseMs > 0 && (room === 1 || (waiting.length < room && !isSequence))) {
        await delay(pauseMs)
        now = performance.now()
      }
      dropLate(now)
      const batch = nextBatch()
      if (batch.length > 0) {
        begun = now
        begin(batch)
      } else if (waiting.length > 0) await Promise.race([...inFlight, nextArrival()])
      // After a failure, only one flush runs at a time, until the platform works again.
      while (inFlight.size >= (room === 1 ? 1 : maxInFlight)) await Promise.race(inFlight)
    }
    clearInterval(lateCheck)
    running = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.length >= options.maxWaiting)
        return reject(new OverloadError(`${waiting.length} items are already waiting`))
      const failure = failureOf(item)
      if (failure && !failure.ok) return reject(failure.error)
      const { span, isFollowed = false } = handled() ?? {}
      const endCall = beginCall()
      waiting.push({
        item,
        since: performance.now(),
        span,
        isFollowed,
        settle(result) {
          endCall()
          if (result.ok) return resolve(result.value)
          options.onFailure?.(item)
          reject(result.error)
        },
      })
      arrived()
      if (running) return
      running = true
      setImmediate(run)
    })
}
