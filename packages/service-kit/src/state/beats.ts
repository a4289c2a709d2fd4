/** A document of one process, which changes its beat at least every few seconds while the process is alive. */
export interface Beating {
  /** A random id of the process; empty if the document belongs to no process. */
  by: string
  beat: number
}

/** The time after which a document without a new beat belongs to a process that has ended. */
const lateMs = 20_000
/** The interval at which a process looks for documents of processes that have ended. */
const intervalMs = 5_000

/** Creates the watch over the documents of other processes, which have numbers. */
export function createBeatWatch(elapsed: () => number) {
  const seen = new Map<number, Beating & { since: number }>()
  let seenAt = Number.NEGATIVE_INFINITY
  /** Returns the time for which this process has seen the same beat, in milliseconds. */
  function silentMs(number: number, { by, beat }: Beating): number {
    const before = seen.get(number)
    if (before?.by === by && before.beat === beat) return elapsed() - before.since
    seen.set(number, { by, beat, since: elapsed() })
    return 0
  }
  return {
    /** Returns true if it is time to look at the documents. */
    isDue(): boolean {
      if (elapsed() - seenAt < intervalMs) return false
      seenAt = elapsed()
      return true
    },
    /** Returns true if the process of a document has ended. Call it at each look. */
    hasEnded: (number: number, beating: Beating): boolean => silentMs(number, beating) >= lateMs,
    silentMs,
    forget: (number: number) => void seen.delete(number),
  }
}
