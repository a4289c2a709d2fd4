import type { LogReader } from '@orderflow/kafka-log'
import type { Verdict } from '../../runtime/dry-run/dry-run.ts'
import { type Consuming, effectsIn, keptRecord, type RejectedAttempt } from './effects.ts'
import { currentAttempt, type Entry, recordOf } from './entries.ts'
import { readEvent } from './records.ts'
import { replayedContent } from './replay-record.ts'

export interface Outcomes {
  /** One line for each service that consumes the event's topic. */
  lines: string[]
  /** The services that have accepted another version of the event. */
  contradicted: string[]
}

/**
 * Asks each service for the outcome of an edited event.
 * @param all all entries, because an entry has only the rejections of one service
 */
export async function outcomesOf(
  log: LogReader,
  services: readonly Consuming[],
  { entry, all, edited }: { entry: Entry; all: readonly Entry[]; edited: Buffer },
): Promise<Outcomes> {
  const attempt = currentAttempt(entry)
  const { value, key } = replayedContent((await readEvent(log, attempt)) ?? noContent, edited, attempt.origin.topic)
  const record = {
    position: attempt.position,
    value: Buffer.from(value).toString('base64'),
    key: key?.toString('base64'),
    arrivedAt: Date.now(),
    isVouchedFor: true,
  }
  const attempts = attemptsAt(entry, all)
  const effects = await effectsIn(services, record, (service) => keptRecord(log, attempts, service))
  const hasAccepted = (service: string) => attempts.some(({ rejectedBy }) => !rejectedBy.includes(service))
  return {
    lines: effects.map((effect) => `${effect.service}  ${outcomeText(effect, hasAccepted(effect.service))}`),
    contradicted: effects
      .filter((one) => one.result !== 'unknown' && one.conflicts.length > 0)
      .map(({ service }) => service),
  }
}

const noContent = { key: undefined, value: undefined }

/** Returns the failed records of the entry's event, oldest first, with the services that rejected each of them. */
export function attemptsAt(entry: Entry, all: readonly Entry[]): RejectedAttempt[] {
  const first = ({ record, origin }: Entry) => recordOf({ record, position: origin })
  const failures = all
    .filter((one) => first(one) === first(entry))
    .flatMap(({ app, attempts }) => attempts.map((attempt) => ({ app, attempt })))
    .sort((one, other) => one.attempt.time.localeCompare(other.attempt.time))
  return [...Map.groupBy(failures, ({ attempt }) => recordOf(attempt)).values()].flatMap((some) =>
    some.slice(0, 1).map(({ attempt }) => ({ attempt, rejectedBy: some.map(({ app }) => app) })),
  )
}

function outcomeText(verdict: Verdict, hasAccepted: boolean): string {
  if (verdict.result === 'unknown') {
    const kept = hasAccepted ? '; it has not rejected the original event, so it may keep other values' : ''
    return `did not answer: ${verdict.why}${kept}`
  }
  const effect = effectText(verdict)
  if (verdict.conflicts.length === 0) return effect
  return `${effect}; it has accepted the original event with other values in ${verdict.conflicts.join(', ')}`
}

function effectText(verdict: Exclude<Verdict, { result: 'unknown' }>): string {
  if (verdict.result === 'dead-letter') return `would reject this event: ${verdict.reason}`
  if (verdict.result === 'changes') return 'would accept this event'
  return verdict.why === 'duplicate' ? 'would change nothing' : 'would ignore this event'
}
