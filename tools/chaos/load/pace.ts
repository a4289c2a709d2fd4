import { setTimeout as delay } from 'node:timers/promises'

export interface Pace {
  stop(): Promise<void>
}

const tickMs = 20
/** A call waits until there is room. Calls that wait longer than this time are left out. */
const arrearsMs = 2_000

/** Calls `begin` with 0, 1, 2, … at a steady rate while there is room, without waiting for earlier calls. */
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
