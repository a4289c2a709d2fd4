/** What a request finds of a quota. Times in milliseconds. */
export interface Standing {
  /** How many more would be taken at this moment. */
  left: number
  /** Until the quota is whole again. */
  wholeInMs: number
  /** Until this one would have been taken; 0 when it is. */
  waitMs: number
}

/** Counts a request of somebody against his quota. One that is refused does not count. */
export type Rate = (key: string) => Standing

export const minuteMs = 60_000

/** How many are remembered: 100 to 200 bytes each. */
const defaultMemory = 20_000

/** Sums of fractions of milliseconds are not exact. */
const roundingMs = 1e-3

/**
 * A quota for each of many: so many requests at once, and one more as soon as its share of a minute has passed. Not so many per
 * calendar minute, which would take twice as many within the seconds around a full one, and then none for a minute. All that is kept
 * of somebody is when his quota will be whole again (the generic cell rate algorithm, ITU-T I.371).
 *
 * Memory is bounded: two halves, of which the older one goes when the newer one is full. Who is forgotten was silent while half as
 * many others came as are remembered at all, and has a whole quota again. So a flood of senders takes nothing from anybody, and frees
 * only those it would have to outnumber.
 * @param perMinute above 0
 * @param now a clock that never goes back, in milliseconds
 * @param memory how many are remembered, at most
 */
export function createRate(perMinute: number, now = () => performance.now(), memory = defaultMemory): Rate {
  const shareMs = minuteMs / perMinute
  let newer = new Map<string, number>()
  let older = new Map<string, number>()

  function remember(key: string, wholeAt: number): void {
    if (newer.size >= memory / 2 && !newer.has(key)) [older, newer] = [newer, new Map()]
    newer.set(key, wholeAt)
  }

  return (key) => {
    const time = now()
    const before = Math.max(newer.get(key) ?? older.get(key) ?? time, time)
    const waitMs = before + shareMs - time - minuteMs
    const isTaken = waitMs <= roundingMs
    const wholeAt = isTaken ? before + shareMs : before
    remember(key, wholeAt)
    const wholeInMs = wholeAt - time
    return { left: Math.floor((minuteMs - wholeInMs + roundingMs) / shareMs), wholeInMs, waitMs: isTaken ? 0 : waitMs }
  }
}
