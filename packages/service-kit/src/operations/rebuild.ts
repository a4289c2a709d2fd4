import { setTimeout as delay } from 'node:timers/promises'
import { deadLetterTopic } from '@orderflow/envelope'
import { digestOf, unread } from '../stream/dead-letter.ts'
import { createIntake, type Handlers } from '../stream/event-handler.ts'
import { faultOf, isInfrastructure } from '../stream/fault.ts'
import { idSourceOf, originOf, positionText, recordIdOf, replayedFrom, slices } from '../stream/record.ts'
import { contractMask } from '../telemetry/mask.ts'
import { signatureHeader, type Trust } from '../trust/trust.ts'
import { type DeadLetter, readDeadLetterTopic } from './dead-letters/records.ts'
import {
  headerOf,
  type LogReader,
  type LogRecord,
  positionOfRecord,
  type Span,
  type TimeRange,
  whereIs,
} from './log-reader.ts'
import { OperationError } from './terminal.ts'

/** What became of the records of a topic. All but `read` add up to `read`. */
export interface RebuildCounts {
  read: number
  /** Changed the store. */
  applied: number
  /** Known already. */
  unchanged: number
  /** An event name that this service does not rebuild from. */
  unhandled: number
  /** Dead letters of this service, by reason: it put them aside when they came, so they stay aside. */
  aside: Record<string, number>
  /** What the service cannot take and has no dead letter of, by reason. */
  faulty: Record<string, number>
}

interface RebuildOptions {
  /** The service's name, as on its dead letters. */
  app: string
  /** Asked for what always holds, and not for what the trust file says today: the service had decided that when the event came. */
  trust: Pick<Trust, 'requireGenuine'>
  /** See `momentOf`. */
  positionIdsBefore?: number | undefined
  /** Codes of its domain's errors. */
  refusals: ReadonlySet<string>
  log: LogReader
  range: TimeRange
  /** @param left how many records are still to be read, at most: offsets that hold no record count until the reader has passed them */
  onProgress: (topic: string, counts: Readonly<RebuildCounts>, left: bigint) => void
  /** The store or sidecar fails; it is tried again. */
  onWait: (reason: string) => void
}

const retryMs = 500
/** A store or sidecar that does not come back within this time ends the rebuild. */
const patienceMs = 60_000

/** Events that share a transaction, at most: what the unit of work takes at once. */
const maxSliceEvents = 500

/**
 * Feeds what the log holds of a topic to handlers that answer whether they changed anything, in the order of arrival, and publishes
 * nothing. Safe beside the running service and to be run again: a handler changes nothing twice.
 * @throws {OperationError} the log cannot be read, or the store stays away
 */
export async function rebuildTopic(
  topic: string,
  handlers: Handlers<boolean>,
  { app, trust, positionIdsBefore, refusals, log, range, onProgress, onWait }: RebuildOptions,
): Promise<RebuildCounts> {
  const counts: RebuildCounts = { read: 0, applied: 0, unchanged: 0, unhandled: 0, aside: {}, faulty: {} }
  const spans = await log.spans(topic, range)
  const unread = new Map(spans.map((span) => [span.partition, { ...span }]))
  const aside = await asideOf(app, topic, log)
  const intake = createIntake(handlers, (envelope, evidence) => trust.requireGenuine(topic, envelope, evidence))
  tell()

  function tell(): void {
    const left = [...unread.values()].reduce((sum, { start, end }) => sum + end - start, 0n)
    onProgress(topic, counts, left)
  }

  async function settle(record: LogRecord): Promise<void> {
    const reason = aside(record)
    if (reason !== undefined) return tally(counts.aside, reason)
    try {
      const origin = originOf(positionOfRecord(record), headerOf(record, replayedFrom))
      const source = idSourceOf({ ...record, arrivedAt: record.timestamp, origin }, positionIdsBefore)
      const evidence = {
        value: record.value,
        signature: headerOf(record, signatureHeader),
        appendedAt: record.appendedAt,
      }
      const taken = await patiently(() => intake(evidence, source))
      counts[taken === undefined ? 'unhandled' : taken.answer ? 'applied' : 'unchanged'] += 1
    } catch (error) {
      if (isInfrastructure(error)) throw error
      tally(counts.faulty, faultOf(error, refusals, contractMask).code)
    }
  }

  /** Does it again for some time as long as the platform fails. */
  async function patiently<T>(work: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + patienceMs
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (!isInfrastructure(error) || performance.now() > deadline) throw error
        onWait((error as Error).message)
        await delay(retryMs)
      }
    }
  }

  for await (const records of log.read(topic, spans)) {
    for (const slice of slices(records, maxSliceEvents)) {
      const results = await Promise.allSettled(slice.map(settle))
      const failure = results.find((result) => result.status === 'rejected')
      if (failure) throw givingUp(failure.reason)
      counts.read += slice.length
      for (const { partition, offset } of slice) (unread.get(partition) as Span).start = offset + 1n
      tell()
    }
  }
  return counts
}

/**
 * Returns a function that returns why this service dead-lettered a record; undefined for any other record. An event that was corrected and
 * replayed is in the log as another record.
 *
 * A dead letter without the record's id (0.1.0, last resort) is about a record at its position that is older and has the same bytes, if the
 * dead letter has any. After a topic was created again, another record can be there.
 */
async function asideOf(app: string, topic: string, log: LogReader): Promise<(record: LogRecord) => string | undefined> {
  const byRecord = new Map<string, string>()
  const byPosition = new Map<string, DeadLetter[]>()
  for await (const deadLetter of readDeadLetterTopic(log, deadLetterTopic(topic))) {
    if (deadLetter.kind !== 'dead-letter' || deadLetter.app !== app) continue
    const { position, record, reason } = deadLetter
    if (record !== undefined) byRecord.set(record, reason)
    else byPosition.set(positionText(position), [...(byPosition.get(positionText(position)) ?? []), deadLetter])
  }
  return (record) => {
    const id = byRecord.size > 0 ? recordIdOf({ ...record, arrivedAt: record.timestamp }) : undefined
    const reason = id && byRecord.get(id)
    if (reason !== undefined) return reason
    return byPosition.get(whereIs(record))?.findLast((deadLetter) => isAbout(deadLetter, record))?.reason
  }
}

/** Clocks of services and brokers may differ by this. */
const maxSkewMs = 60_000

function isAbout({ time, digest }: DeadLetter, { timestamp, value }: LogRecord): boolean {
  if (timestamp > Date.parse(time) + maxSkewMs) return false
  return digest === undefined || digest === unread || digest === digestOf(value)
}

function givingUp(cause: unknown): OperationError {
  return new OperationError(`the store does not take the events: ${(cause as Error).message}`, {
    nextStep: 'is the sidecar running (make status)? Then rebuild again: what was taken changes nothing',
    cause,
  })
}

function tally(counts: Record<string, number>, reason: string): void {
  counts[reason] = (counts[reason] ?? 0) + 1
}
