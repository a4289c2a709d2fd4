import { AsyncLocalStorage } from 'node:async_hooks'
import { isStoppable } from '../limits.ts'

/** Thrown if a handler did not end in time. The handler's later calls to the sidecar throw it, too. */
export class HandlerTimeoutError extends Error {
  readonly code = 'handler-timeout'
  constructor() {
    super(
      `the handler did not end within ${maxHandlerMs / 1_000} s, without its waits for the sidecar; ` +
        'limit the time of each call to another system, and end each loop',
    )
    this.name = 'HandlerTimeoutError'
  }
}

/** The longest time of a handler, without its waits for the sidecar. A delivery has 60 s (components/resiliency.yaml). */
const maxHandlerMs = 10_000
const intervalMs = 1_000
/**
 * The part of a wait for the sidecar that belongs to the handler's time. So an outage never ends a handler, but an endless loop of successful calls
 * does.
 */
const usualCallMs = 100

interface HandlerTime {
  /** The number of checks at which the handler did not wait for the sidecar. After a pause of the process, there is only one check. */
  checks: number
  /** The number of open calls to the sidecar. */
  calls: number
  /** The time at which the handler began to wait for the sidecar. */
  waitsSince: number
  isOver: boolean
  end: () => void
}

const current = new AsyncLocalStorage<HandlerTime | undefined>()
const running = new Set<HandlerTime>()
let timer: NodeJS.Timeout | undefined

function checkAll(): void {
  // A debugger may have stopped the handler.
  if (isStoppable()) return
  const now = performance.now()
  for (const time of running) {
    if (time.calls > 0 && now - time.waitsSince > usualCallMs) continue
    time.checks += 1
    endIfLate(time)
  }
}

/** Ends a late handler, but only between its calls. So no call of the handler can take effect after the handler's end. */
function endIfLate(time: HandlerTime): void {
  if (time.calls > 0 || time.checks * intervalMs <= maxHandlerMs) return
  time.isOver = true
  time.end()
}

/** Runs a handler. @throws {HandlerTimeoutError} if the handler does not end in time. It can then neither read, write nor publish anything */
export async function limitHandler<T>(handler: () => Promise<T>): Promise<T> {
  timer ??= setInterval(checkAll, intervalMs).unref()
  const late = Promise.withResolvers<never>()
  const time = { checks: 0, calls: 0, waitsSince: 0, isOver: false, end: () => late.reject(new HandlerTimeoutError()) }
  running.add(time)
  try {
    return await Promise.race([current.run(time, handler), late.promise])
  } finally {
    running.delete(time)
    if (running.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
  }
}

/** Runs work that several handlers share, so the time of none of them limits it. */
export const unlimited = <T>(work: () => T): T => current.run(undefined, work)

/**
 * Makes a call to the sidecar. The time of a handler includes only the beginning of the call (`usualCallMs`).
 * @throws {HandlerTimeoutError} if the handler has already ended
 */
export async function callSidecar<T>(call: () => Promise<T>): Promise<T> {
  const time = current.getStore()
  if (!time) return call()
  if (time.isOver) throw new HandlerTimeoutError()
  if (time.calls === 0) time.waitsSince = performance.now()
  time.calls += 1
  try {
    return await call()
  } finally {
    time.calls -= 1
    endIfLate(time)
  }
}
