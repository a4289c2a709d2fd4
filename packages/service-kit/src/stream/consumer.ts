import { timeLimit } from '../limits.ts'
import { errorType, type Tracing } from '../telemetry/context.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics, Outcome } from '../telemetry/metrics.ts'
import type { Trust } from '../trust/trust.ts'
import type { AppendTimes } from './append-times.ts'
import { createBrake } from './brake.ts'
import {
  createEventHandler,
  type EventHandlerOptions,
  type Failure,
  type Handlers,
  handledTypes,
  type Reactions,
  type Result,
} from './event-handler.ts'
import { faultCodes } from './fault.ts'
import { type ObservedDelivery, observeDelivery } from './observed.ts'
import { type BulkEntry, type Delivery, positionOf, positionText, type RecordPosition, readDelivery } from './record.ts'
import { createRedeliveries, type Redelivered } from './redeliveries.ts'
import { createUnhandledCounter } from './unhandled.ts'

export interface ConsumerOptions extends Pick<EventHandlerOptions, 'app' | 'publish' | 'refusals' | 'now'> {
  trust: Pick<Trust, 'requireTrusted' | 'asksForSignature'>
  appendTimes: AppendTimes
  log: Logger
  metrics: Pick<Metrics, 'topic'>
  tracing?: Tracing | undefined
}

interface Status {
  entryId: string
  status: 'SUCCESS' | 'RETRY'
}

export interface Consumer {
  /**
   * Handles the entries of a bulk delivery, one part after the other, and returns a status for each entry. If an entry gets RETRY, all later entries
   * with the same key get RETRY, too, so that their order is kept.
   */
  deliver(parts: AsyncIterable<BulkEntry[]> | Iterable<BulkEntry[]>): Promise<Status[]>
  /** Returns the reason why the service stopped consuming the topic; otherwise undefined. */
  stoppedBy(): string | undefined
  /** Returns the records that failed in more than `manyDeliveries` deliveries, at most one for each partition. */
  redelivered(): Redelivered[]
}

export function createConsumers(reactions: Reactions, options: ConsumerOptions): Record<string, Consumer> {
  const consumers = Object.entries(reactions).map(([topic, handlers]) => [
    topic,
    createConsumer(topic, handlers, options),
  ])
  return Object.fromEntries(consumers)
}

/**
 * Handles the events of one topic. A delivery of an event has one of three results:
 * - The event is handled, or becomes a dead letter if it can never be handled.
 * - The event is delivered again, without limit, if the sidecar, the store or the broker failed.
 * - After any other error (a bug), the event is handled again, alone. After a second bug, it becomes a dead letter (docs/adr/0030).
 */
export function createConsumer(topic: string, handlers: Handlers, options: ConsumerOptions): Consumer {
  const { app, trust, appendTimes, refusals, log, now, tracing } = options
  const brake = createBrake(topic)
  const redeliveries = createRedeliveries(now)
  const metrics = options.metrics.topic(topic, faultCodes(refusals), {
    isStopped: () => brake.reason() !== undefined,
    mostDeliveries: () => redeliveries.worst().reduce((most, { deliveries }) => Math.max(most, deliveries), 0),
  })
  const observed = { topic, group: app, types: new Set(handledTypes(handlers)), metrics, tracing }
  const logUnhandled = createUnhandledCounter(topic, log)
  const handler = createEventHandler(topic, handlers, {
    ...options,
    metrics,
    onUnhandled(type) {
      logUnhandled(type)
      metrics.unhandled(type)
    },
    onEnded: brake.ended,
  })

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

  /**
   * Handles all entries together, except those whose key is held since an earlier part. An error of one entry does not affect the other entries.
   */
  async function deliverTogether(
    entries: BulkEntry[],
    held: ReadonlySet<string>,
    whole: ObservedDelivery,
  ): Promise<Result[]> {
    const results = new Map<string, Result>()
    const deliveries = entries.flatMap((entry) => {
      if (held.has(keyOf(entry))) {
        results.set(entry.entryId, 'retried')
        return []
      }
      try {
        return readDelivery(entry, topic)
      } catch (error) {
        results.set(entry.entryId, { kind: 'bug', error, ids: {} })
        return []
      }
    })
    const failure = await completeTimes(deliveries)
    if (failure) return entries.map(() => failure)
    const attempts = await Promise.allSettled(deliveries.map((delivery) => handler.attempt(delivery, whole, false)))
    for (const [index, result] of attempts.entries()) {
      const { entryId } = deliveries[index] as Delivery
      const isEnded = result.status === 'fulfilled'
      results.set(entryId, isEnded ? result.value : { kind: 'bug', error: result.reason, ids: {} })
    }
    return entries.map(({ entryId }) => results.get(entryId) as Result)
  }

  /** Handles an entry again, without the other entries of its delivery, because they may have caused the bug. */
  async function deliverAlone(entry: BulkEntry, whole: ObservedDelivery): Promise<Result> {
    const position = positionOf(entry, topic)
    try {
      const delivery = readDelivery(entry, topic)
      const failure = await completeTimes([delivery])
      const result = failure ?? (await handler.attempt(delivery, whole, true))
      if (typeof result === 'string' || result.kind === 'infrastructure') return result
    } catch (error) {
      // The error's message is not logged, because it may quote the record.
      log.error({ reason: errorType(error), ...position }, 'a bug: this service failed on a record')
    }
    return handler.giveUp(position)
  }

  async function deliverPart(
    entries: BulkEntry[],
    held: ReadonlySet<string>,
    whole: ObservedDelivery,
  ): Promise<Result[]> {
    const results = brake.reason() === undefined ? await deliverTogether(entries, held, whole) : entries.map(stopped)
    for (const [index, entry] of entries.entries()) {
      const result = results[index] as Result
      if (typeof result === 'string' || result.kind !== 'bug') continue
      results[index] = brake.reason() === undefined ? await deliverAlone(entry, whole) : stopped()
    }
    return results
  }

  /**
   * Returns the outcome of each entry. A failed entry is delivered again, and so are all later entries with the same key.
   * @param held the keys of failed entries, to which this function adds keys
   */
  function outcomesOf(entries: BulkEntry[], results: Result[], held: Set<string>): Outcome[] {
    return entries.map((entry, index): Outcome => {
      const [key, result] = [keyOf(entry), results[index]]
      if (typeof result === 'string' && !held.has(key)) return result
      if (key !== '') held.add(key)
      return 'retried'
    })
  }

  function countDeliveries(positions: RecordPosition[], outcomes: Outcome[]): void {
    for (const [index, position] of positions.entries()) {
      if (outcomes[index] !== 'retried') redeliveries.ended(position)
      else if (redeliveries.failed(position) === manyDeliveries + 1)
        log.error(
          { ...position, deliveries: manyDeliveries + 1 },
          'this record is delivered repeatedly, because the platform fails; see /readyz',
        )
    }
  }

  return {
    async deliver(parts) {
      const begun = now()
      const whole = observeDelivery(begun, observed)
      const held = new Set<string>()
      const outcomes: Outcome[] = []
      const statuses: Status[] = []
      let error: string | undefined
      try {
        for await (const entries of parts) {
          const positions = entries.map((entry) => positionOf(entry, topic))
          whole.add(entries)
          const isLate = now().getTime() - begun.getTime() > timeLimit(maxDeliveryMs)
          const results = isLate ? entries.map(late) : await deliverPart(entries, held, whole)
          const failure = results.find((result) => typeof result !== 'string')
          if (failure && error === undefined) {
            error = errorType(failure.error)
            log.error({ err: failure.error, topic, ...failure.ids }, 'a part of the batch will be delivered again')
          }
          const partOutcomes = outcomesOf(entries, results, held)
          countDeliveries(positions, partOutcomes)
          for (const [index, { entryId }] of entries.entries()) {
            const outcome = partOutcomes[index] as Outcome
            outcomes.push(outcome)
            statuses.push({ entryId, status: outcome === 'retried' ? 'RETRY' : 'SUCCESS' })
          }
        }
      } catch (thrown) {
        error = errorType(thrown)
        throw thrown
      } finally {
        whole.end(outcomes, error)
      }
      return statuses
    },
    stoppedBy: brake.reason,
    redelivered: () => redeliveries.worst().filter(({ deliveries }) => deliveries > manyDeliveries),
  }

  function stopped(): Failure {
    return { kind: 'infrastructure', error: new Error(brake.reason()), ids: {} }
  }
}

/**
 * The time after which the remaining parts of a delivery get RETRY without an attempt. The sidecar ignores the answer after 60 s
 * (components/resiliency.yaml) and would repeat all parts. The last part may wait for two calls of 10 s (sidecar/dapr-sidecar.ts).
 */
const maxDeliveryMs = 40_000

function late(): Failure {
  const error = new Error(`the earlier records of the delivery took more than ${maxDeliveryMs} ms`)
  return { kind: 'infrastructure', error, ids: {} }
}

/** The number of deliveries after which a record needs an operator. The sidecar repeats a delivery every second (components/resiliency.yaml). */
const manyDeliveries = 10

/** Returns the key as the sidecar delivered it; empty for a record without a key. */
const keyOf = ({ metadata: { __key: key = '' } }: BulkEntry): string => key
