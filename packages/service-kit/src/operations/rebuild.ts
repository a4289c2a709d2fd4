import { setTimeout as delay } from 'node:timers/promises'
import { deadLetterTopic } from '@orderflow/envelope'
import type { LogReader, LogRecord, Span, TimeRange } from '@orderflow/kafka-log'
import { groupsByKey } from '../stream/consuming/by-key.ts'
import { createIntake, evidenceOf, type Handlers } from '../stream/consuming/event-handler.ts'
import { faultOf, isInfrastructure, thrownBy } from '../stream/dead-letters/fault.ts'
import { readRejections } from '../stream/dead-letters/rejections.ts'
import { within } from '../telemetry/context.ts'
import { contractMask } from '../telemetry/mask.ts'
import type { Trust } from '../trust/trust.ts'
import { OperationError } from './terminal.ts'

/** The number of records of a topic, by outcome. `read` is the sum of all outcomes. */
export interface RebuildCounts {
  read: number
  applied: number
  unchanged: number
  /** The number of events for which rebuilds of this service have no handler. */
  unhandled: number
  /**
   * The number of records for which this service wrote a dead letter, by reason. A rebuild skips these records, because the service rejected them.
   */
  aside: Record<string, number>
  /** The number of invalid records for which this service wrote no dead letter, by reason. */
  faulty: Record<string, number>
}

export interface RebuildOptions {
  app: string
  /** A rebuild checks only the rules that trust.json cannot change. The service already applied trust.json when the event arrived. */
  trust: Pick<Trust, 'requireGenuine'>
  refusals: ReadonlySet<string>
  log: LogReader
  range: TimeRange
  /** The parts of the partitions to read; by default those of `range`. */
  spans?: Span[]
  /** Receives the progress. @param left the largest possible number of unread records */
  onProgress: (topic: string, counts: Readonly<RebuildCounts>, left: bigint) => void
  /** Receives the reason for a failure, before the next attempt. */
  onWait: (reason: string) => void
}

const retryMs = 500
/** The time after which an outage ends the rebuild. */
const patienceMs = 60_000

/** The largest number of events that are handled at the same time, so that one transaction of the store can contain all their writes. */
const maxSliceEvents = 500

/** The number of bytes that are parsed at the same time. It is limited, because parsed events take many times their size in memory. */
const maxSliceBytes = 2 * 1024 * 1024

/**
 * Passes a topic's records, or a part of them, to handlers in the order of arrival, and publishes nothing. Records with the same key are handled in
 * sequence, other records at the same time. A handler returns true if it changed something. Handlers ignore known events, so a rebuild may run while the
 * service runs, and may be repeated.
 * @throws {LogError} if the log is unreadable
 * @throws {OperationError} if the store stays unavailable
 */
export async function rebuildTopic(
  topic: string,
  handlers: Handlers<boolean>,
  { app, trust, refusals, log, range, spans: given, onProgress, onWait }: RebuildOptions,
): Promise<RebuildCounts> {
  const counts: RebuildCounts = { read: 0, applied: 0, unchanged: 0, unhandled: 0, aside: {}, faulty: {} }
  const spans = given ?? (await log.spans(topic, range))
  const unread = new Map(spans.map((span) => [span.partition, { ...span }]))
  const deadLetters = deadLetterTopic(topic)
  const rejections = await readRejections(app, log.read(deadLetters, await log.spans(deadLetters)))
  const intake = createIntake(handlers, (envelope, evidence) => trust.requireGenuine(topic, envelope, evidence))
  tell()

  function tell(): void {
    const left = [...unread.values()].reduce((sum, { start, end }) => sum + end - start, 0n)
    onProgress(topic, counts, left)
  }

  async function settle(record: LogRecord): Promise<void> {
    const reason = rejections.reasonOf(record)
    if (reason !== undefined) return tally(counts.aside, reason)
    try {
      const taken = await patiently(() => intake(evidenceOf(record), record), onWait)
      counts[taken === undefined ? 'unhandled' : taken.answer ? 'applied' : 'unchanged'] += 1
    } catch (error) {
      if (isInfrastructure(error) || thrownBy(error) instanceof OperationError) throw error
      tally(counts.faulty, faultOf(error, refusals, contractMask).code)
    }
  }

  async function settleInSequence(records: LogRecord[]): Promise<void> {
    for (const [index, record] of records.entries()) {
      const { value: document, timestamp: arrivedAt } = record
      await within({ document, arrivedAt, isFollowed: index + 1 < records.length }, () => settle(record))
    }
  }

  for await (const records of log.read(topic, spans)) {
    for (const slice of slices(records, maxSliceEvents)) {
      const groups = groupsByKey(slice, ({ key }) => key?.toString('latin1'))
      const results = await Promise.allSettled(groups.map(settleInSequence))
      const failure = results.find((result) => result.status === 'rejected')
      if (failure) throw storeFailure(failure.reason)
      counts.read += slice.length
      for (const { partition, offset } of slice) (unread.get(partition) as Span).start = offset + 1n
      tell()
    }
  }
  return counts
}

/** Runs the work again while the store is unavailable, for a minute. @throws the last error */
export async function patiently<T>(work: () => Promise<T>, onWait: RebuildOptions['onWait']): Promise<T> {
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

export function storeFailure(failure: unknown): OperationError {
  const cause = thrownBy(failure)
  if (cause instanceof OperationError) return cause
  return new OperationError(`the store did not accept the events: ${(cause as Error).message}`, {
    nextStep: 'check that the sidecar runs (make status), then repeat the command: known events change nothing',
    cause,
  })
}

function tally(counts: Record<string, number>, reason: string): void {
  counts[reason] = (counts[reason] ?? 0) + 1
}

/** Cuts a list into slices of limited size, and keeps the order. A value that is larger than the limit gets its own slice. */
export function slices<T extends { value: Uint8Array }>(all: T[], maxItems: number): T[][] {
  const cut: T[][] = []
  let bytes = 0
  for (const item of all) {
    bytes += item.value.byteLength
    const last = cut.at(-1)
    if (last && last.length < maxItems && bytes <= maxSliceBytes) {
      last.push(item)
    } else {
      cut.push([item])
      bytes = item.value.byteLength
    }
  }
  return cut
}
