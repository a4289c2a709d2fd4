export interface ListClock {
  /** Returns the time of a list: it is never earlier than a returned or seen time of an entry. */
  read(): number
  /** Returns the time of a new entry. */
  tick(): number
  /** Returns true if the times of other writers must be seen again. */
  isDue(): boolean
  advance(seen: number[]): void
}

/** The interval at which a writer sees the times of the other writers, which costs two reads. It is short while the list's time is ahead. */
const seenForMs = { usually: 60_000, ahead: 1_000 }

/**
 * Creates the clock of a list. A system's clock may be ahead for a while. Entries of that time would stay above all newer entries, also after a
 * restart and in the lists of other writers. So the list's time continues from its newest entry, until the system's clock is later.
 */
export function createListClock(now: () => Date, elapsed: () => number): ListClock {
  let newest = 0
  let newestAt = elapsed()
  let seenAt = Number.NEGATIVE_INFINITY

  function read(): number {
    const time = now().getTime()
    return time >= newest ? time : Math.floor(newest + elapsed() - newestAt)
  }
  function set(time: number): number {
    ;[newest, newestAt] = [time, elapsed()]
    return time
  }
  return {
    read,
    tick: () => set(read()),
    isDue: () => elapsed() - seenAt >= (newest > now().getTime() ? seenForMs.ahead : seenForMs.usually),
    advance(seen) {
      seenAt = elapsed()
      const last = seen.reduce((most, time) => Math.max(most, time), 0)
      if (last >= read()) set(last + 1)
    },
  }
}
