import { isStoppable } from '../limits.ts'
import { type HandlerTime, handled, within } from '../telemetry/context.ts'

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
  const handling = handled()
  if (!handling) return await within({ document: undefined }, () => limitHandler(handler))
  timer ??= setInterval(checkAll, intervalMs).unref()
  const time: HandlerTime = { checks: 0, calls: 0, waitsSince: 0, isOver: false, end() {} }
  running.add(time)
  handling.time = time
  try {
    const result = handler()
    return await new Promise((resolve, reject) => {
      result.then(resolve, reject)
      time.end = () => reject(new HandlerTimeoutError())
    })
  } finally {
    running.delete(time)
    if (!time.isOver) handling.time = undefined
    if (running.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
  }
}

/**
 * Begins a call to the sidecar. Returns the function that ends it. The time of a handler includes only the beginning of the call (`usualCallMs`).
 * @throws {HandlerTimeoutError} if the handler has already ended
 */
export function beginCall(): () => void {
  const time = handled()?.time
  if (!time) return () => {}
  if (time.isOver) throw new HandlerTimeoutError()
  if (time.calls === 0) time.waitsSince = performance.now()
  time.calls += 1
  return () => {
    time.calls -= 1
    endIfLate(time)
  }
}

/** Makes a call to the sidecar. @throws {HandlerTimeoutError} if the handler has already ended */
export async function callSidecar<T>(call: () => Promise<T>): Promise<T> {
  const endCall = beginCall()
  try {
    return await call()
  } finally {
    endCall()
  }
}
