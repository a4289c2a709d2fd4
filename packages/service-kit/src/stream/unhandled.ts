import type { Logger } from '../telemetry/log.ts'

/** How often a name is logged. */
const periodMs = 60_000
/** Event types that are counted by themselves in a period: publishers choose their names, and may choose many. */
const maxTypes = 50
const others = '(others)'
const odd = '(no plain name)'
/** A name may have 200 characters, and a log line need not. */
const maxLength = 80
/** What events are called. Another text in its place is no name, and may be about somebody. */
const plain = /^[\w.:/-]+(@\d+)?$/

/**
 * Counts events that a service has no handler for, by `Name@Version`. The first of each is logged at once, how many came
 * after it when the period ends: enough to find a misspelt name by, and never a line per event.
 */
export function createUnhandledCounter(topic: string, log: Logger): (type: string) => void {
  const counts = new Map<string, number>()

  function endPeriod(): void {
    for (const [event, count] of counts) {
      if (count > 1) log.info({ topic, event, count }, 'events without a handler in the last minute')
    }
    counts.clear()
  }

  return (type) => {
    if (counts.size === 0) setTimeout(endPeriod, periodMs).unref()
    const short = plain.test(type) ? type.slice(0, maxLength) : odd
    const event = counts.has(short) || counts.size < maxTypes ? short : others
    const count = (counts.get(event) ?? 0) + 1
    counts.set(event, count)
    if (count === 1) log.info({ topic, event }, 'no handler for this event; more of them are counted for a minute')
  }
}
