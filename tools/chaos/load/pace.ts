import { setTimeout as delay } from 'node:timers/promises'

export interface Pace {
  /** Begins nothing more. */
  stop(): Promise<void>
}

const tickMs = 20
/** What could not begin in time begins as soon as there is room, unless it is later than this. */
const arrearsMs = 2_000

/**
 * Calls `begin` with 0, 1, 2, … so many times a second, whether or not what began before has ended, as long as there is
 * room: the callers of a real system do not wait for each other.
 */
export function startPace(perSecond: number, hasRoom: () => boolean, begin: (index: number) => void): Pace {
  let isStopping = false
  let index = 0
  let due = performance.now()
  const stepMs = 1_000 / perSecond

  async function run(): Promise<void> {
    while (!isStopping) {
      const now = performance.now()
      due = Math.max(due, now - arrearsMs)
      for (; due <= now && hasRoom(); due += stepMs) {
        begin(index)
        index += 1
      }
      await delay(tickMs)
    }
  }
  const running = run()
  return {
    async stop() {
      isStopping = true
      await running
    },
  }
}
