const windowSize = 1_000
/** The allowed share of events with bugs among the latest `windowSize` events. Above this share, the service stops consuming the topic. */
const maxShare = 0.05
/** The smallest number of bugs at which the service stops consuming a topic. */
const minBugs = 20

/**
 * Stops the consumption of a topic if too many events meet a bug. Otherwise a bad deployment would turn the whole log into dead letters. The service
 * consumes the topic again only after a restart, because usually only a new version of the service succeeds.
 */
export function createBrake(topic: string) {
  const window: boolean[] = []
  let next = 0
  let bugs = 0
  let reason: string | undefined

  return {
    /**
     * Counts an event after its last attempt. `isBug` is true if the event became a dead letter because of a bug (`handler-error`, `internal-error`).
     */
    ended(isBug: boolean): void {
      if (window[next]) bugs -= 1
      window[next] = isBug
      next = (next + 1) % windowSize
      if (!isBug) return
      bugs += 1
      if (bugs < minBugs || bugs <= maxShare * window.length) return
      reason ??=
        `${topic} is no longer consumed: ${bugs} of its last ${window.length} events met a bug of this service ` +
        '(handler-error, internal-error); deploy a version without the bug, or restart the service to continue'
    },
    reason: () => reason,
  }
}
