import type { Logger } from '../../telemetry/log.ts'

const logPeriodMs = 60_000
/** The number of event types that are counted separately. It is limited, because publishers choose the names. */
const maxTypes = 50
const otherTypes = '(others)'
const oddType = '(no plain name)'
const maxNameLength = 80
/** The pattern of an event's name. Any other text may be personal data. */
const plainName = /^[\w.:/-]+(@\d+)?$/

/**
 * Counts events without a handler, by `Name@Version`. It logs the first event of each type at once, and the number of events after a minute.
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
    if (counts.size === 0) setTimeout(endPeriod, logPeriodMs).unref()
    const short = plainName.test(type) ? type.slice(0, maxNameLength) : oddType
    const event = counts.has(short) || counts.size < maxTypes ? short : otherTypes
    const count = (counts.get(event) ?? 0) + 1
    counts.set(event, count)
    if (count === 1)
      log.info({ topic, event }, 'no handler for this event; later events of this type are counted for a minute')
  }
}
