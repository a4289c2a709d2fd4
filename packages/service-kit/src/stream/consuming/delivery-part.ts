import { positionText } from '@orderflow/kafka-log'
import { HeldError } from '../../sidecar/sidecar.ts'
import { errorType, type Run } from '../../telemetry/context.ts'
import type { Logger } from '../../telemetry/log.ts'
import type { Trust } from '../../trust/trust.ts'
import { type BulkEntry, type Delivery, keyOf, positionOf, readDelivery } from '../log/record.ts'
import type { AppendTimes } from '../log/shared-admin.ts'
import type { ObservedDelivery } from '../observed.ts'
import { groupsByKey } from './by-key.ts'
import type { EventHandler, Failure, Result } from './event-handler.ts'

export interface PartHandlerOptions {
  trust: Pick<Trust, 'asksForSignature'>
  appendTimes: AppendTimes
  log: Logger
}

/**
 * Handles the entries of a part, and returns their results. An entry has no result if an earlier record of its key failed.
 * @param blockedBy returns the reason why no further entry may be attempted; otherwise undefined
 * @param isRepeated true if an earlier process may have handled the entries
 */
export type PartHandler = (
  entries: readonly BulkEntry[],
  whole: ObservedDelivery,
  blockedBy: () => string | undefined,
  isRepeated: boolean,
) => Promise<ReadonlyMap<BulkEntry, Result>>

/**
 * Creates the function that handles the records of a key in sequence, and all other records at the same time. After an outage, the later records of
 * the key wait for the next delivery. After a bug, they wait until the record was handled again, alone (docs/adr/0030, docs/adr/0055).
 */
export function createPartHandler(
  topic: string,
  handler: EventHandler,
  { trust, appendTimes, log }: PartHandlerOptions,
): PartHandler {
  /**
   * Asks Kafka for the broker's times of records that seem old enough to need no signature, because a publisher could have set an early time. Returns
   * the failure if Kafka does not answer.
   */
  async function completeTimes(deliveries: readonly Delivery[]): Promise<Failure | undefined> {
    if (!trust.asksForSignature(Number.NaN)) return undefined
    const exempt = deliveries.filter(({ arrivedAt }) => !trust.asksForSignature(arrivedAt))
    if (exempt.length === 0) return undefined
    try {
      const times = await appendTimes(exempt.map(({ position }) => position))
      for (const delivery of exempt) delivery.appendedAt = times.get(positionText(delivery.position)) ?? Number.NaN
      return undefined
    } catch (error) {
      return { kind: 'infrastructure', error, ids: {} }
    }
  }

  function read(entry: BulkEntry): Delivery | Failure {
    try {
      return readDelivery(entry, topic)
    } catch (error) {
      return bug(error)
    }
  }

  return async (entries, whole, blockedBy, isRepeated) => {
    const results = new Map<BulkEntry, Result>()
    const deliveries = new Map(entries.map((entry) => [entry, read(entry)]))
    const failure = await completeTimes([...deliveries.values()].filter((delivery) => 'entryId' in delivery))
    if (failure) return new Map(entries.map((entry) => [entry, failure]))

    async function attempt(
      entry: BulkEntry,
      on: { isLast: boolean; isFollowed: boolean; run?: Run; passOn?: () => void },
    ): Promise<Result> {
      const reason = blockedBy()
      if (reason !== undefined) return { kind: 'infrastructure', error: new Error(reason), ids: {} }
      const delivery = deliveries.get(entry) as Delivery | Failure
      if ('kind' in delivery) return delivery
      return handler.attempt(delivery, whole, { ...on, isRepeated }).catch(bug)
    }

    /**
     * Attempts the records of one key in sequence, up to a failure. A record begins when the earlier one is handled, or when its handler passes on, because its
     * change is certainly made first.
     */
    async function attemptRun(records: BulkEntry[]): Promise<Result[]> {
      const run: Run = { isBroken: false }
      const attempts: Promise<Result>[] = []
      for (const [index, entry] of records.entries()) {
        const passed = Promise.withResolvers<string>()
        const passOn = () => passed.resolve('passed on')
        const attempted = attempt(entry, { isLast: false, isFollowed: index + 1 < records.length, run, passOn })
        attempts.push(attempted)
        const result = await Promise.race([attempted, passed.promise])
        if (run.isBroken || typeof result !== 'string') break
      }
      return Promise.all(attempts)
    }

    /** Handles records of one key in sequence, up to a failure. Returns the records from the first record with a bug on; otherwise none. */
    async function handleInSequence(records: BulkEntry[]): Promise<BulkEntry[]> {
      let open = records
      while (open.length > 0) {
        let count = 0
        const only = open.length === 1 ? open[0] : undefined
        const attempts = only ? [await attempt(only, { isLast: false, isFollowed: false })] : await attemptRun(open)
        for (const result of attempts) {
          if (isHeld(result)) break
          if (isBug(result)) return open.slice(count)
          results.set(open[count] as BulkEntry, result)
          if (typeof result !== 'string') return []
          count += 1
        }
        open = open.slice(count)
      }
      return []
    }

    /** Handles a record again while no other record of the part is handled, because another record may have caused the bug. */
    async function handleAlone(entry: BulkEntry, isFollowed: boolean): Promise<Result> {
      const result = await attempt(entry, { isLast: true, isFollowed })
      if (!isBug(result)) return result
      const position = positionOf(entry, topic)
      // The error's message is not logged, because it may quote the record.
      log.error({ reason: errorType(result.error), ...position }, 'a bug: this service failed on a record')
      return handler.giveUp(position)
    }

    let groups = groupsByKey(entries, keyOf)
    while (groups.length > 0) {
      const interrupted = await Promise.all(groups.map(handleInSequence))
      groups = []
      for (const [entry, ...later] of interrupted) {
        if (!entry) continue
        const result = await handleAlone(entry, later.length > 0)
        results.set(entry, result)
        if (typeof result === 'string') groups.push(later)
      }
    }
    return results
  }
}

const bug = (error: unknown): Failure => ({ kind: 'bug', error, ids: {} })

const isHeld = (result: Result): boolean => typeof result !== 'string' && result.error instanceof HeldError

const isBug = (result: Result): result is Failure => typeof result !== 'string' && result.kind === 'bug'
