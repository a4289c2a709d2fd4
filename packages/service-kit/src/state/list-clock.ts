export type ListClock = ReturnType<typeof createListClock>

/** The interval at which a writer sees the times of the other writers, which costs two reads. It is short while the list's time is ahead. */
const seenForMs = { usually: 60_000, ahead: 1_000 }

/**
 * Creates the clock of a list. A system's clock may be ahead for a while. Entries of that time would stay above all newer entries, also after a
 * restart and in the lists of other writers. So the list's time continues from its newest entry, until the system's clock is later.
 */
export function createListClock(now: () => Date, elapsed: () => number) {
  let newest = 0
  let newestAt = elapsed()
  let seenAt = Number.NEGATIVE_INFINITY

  /** Returns the time of the list: it is never earlier than a returned or seen time of an entry. */
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
    /** Returns the time of a new entry. */
    tick: () => set(read()),
    /** Returns true if the times of other writers must be seen again. */
    isDue: () => elapsed() - seenAt >= (newest > now().getTime() ? seenForMs.ahead : seenForMs.usually),
    advance(seen: readonly number[]): void {
      seenAt = elapsed()
      const last = seen.reduce((most, time) => Math.max(most, time), 0)
      if (last >= read()) set(last + 1)
    },
  }
}
