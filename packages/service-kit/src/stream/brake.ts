/** Events of a topic that the brake looks back on. */
const windowSize = 1_000
/** The topic stops above this share of bugs in the window, */
const maxShare = 0.05
/** and never below this number, so that a few events that meet a bug stop nothing. */
const minBugs = 20

/** Decides whether a topic is still consumed, by how its last events ended. */
export interface Brake {
  /** Takes note of how an event ended: as `handler-error` or `internal-error`, or in any other way. */
  ended(isBug: boolean): void
  /** Why the topic is no longer consumed, for an operator; undefined while it is. */
  reason(): string | undefined
}

/**
 * Stops a topic when too many of its events meet a bug: a bad deployment would otherwise turn the whole log into dead letters. It stays
 * stopped until the process starts again, since only another version of the service is likely to do better.
 */
export function createBrake(topic: string): Brake {
  const window: boolean[] = []
  let next = 0
  let bugs = 0
  let reason: string | undefined

  return {
    ended(isBug) {
      if (window[next]) bugs -= 1
      window[next] = isBug
      next = (next + 1) % windowSize
      if (!isBug) return
      bugs += 1
      if (bugs < minBugs || bugs <= maxShare * window.length) return
      reason ??=
        `${topic} is no longer consumed: ${bugs} of its last ${window.length} events met a bug of this service ` +
        '(handler-error, internal-error); deploy a version without it, or restart the service to go on'
    },
    reason: () => reason,
  }
}
