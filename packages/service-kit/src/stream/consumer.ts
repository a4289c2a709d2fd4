import { errorType, type Tracing } from '../telemetry/context.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics, Outcome } from '../telemetry/metrics.ts'
import type { Trust } from '../trust/trust.ts'
import type { AppendTimes } from './append-times.ts'
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
import {
  type BulkEntry,
  type Delivery,
  positionOf,
  positionText,
  type RecordPosition,
  readDelivery,
  slices,
} from './record.ts'

export interface ConsumerOptions extends Pick<EventHandlerOptions, 'app' | 'publish' | 'refusals' | 'now'> {
  trust: Pick<Trust, 'requireTrusted' | 'asksForSignature'>
  appendTimes: AppendTimes
  log: Logger
  metrics: Pick<Metrics, 'topic'>
  tracing?: Tracing | undefined
}

export interface Consumer {
  /**
   * Handles the entries of a bulk delivery, and returns a status for each. If an entry gets RETRY, all later entries with the same key get RETRY,
   * too, so that their order is kept.
   */
  deliver(entries: BulkEntry[]): Promise<{ entryId: string; status: 'SUCCESS' | 'RETRY' }[]>
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

  /** Handles all entries together. An error of one entry does not affect the other entries. */
  async function deliverTogether(entries: BulkEntry[], whole: ObservedDelivery): Promise<Result[]> {
    const results = new Map<string, Result>()
    const deliveries = entries.flatMap((entry) => {
      try {
        return readDelivery(entry, topic)
      } catch (error) {
        results.set(entry.entryId, { kind: 'bug', error, ids: {} })
        return []
      }
    })
    const failure = await completeTimes(deliveries)
    if (failure) return entries.map(() => failure)
    // Parses the delivery in slices, because a delivery may be large, and parsed events take much memory.
    for (const slice of slices(deliveries)) {
      const attempts = await Promise.allSettled(slice.map((delivery) => handler.attempt(delivery, whole, false)))
      for (const [index, result] of attempts.entries()) {
        const { entryId } = slice[index] as Delivery
        const isEnded = result.status === 'fulfilled'
        results.set(entryId, isEnded ? result.value : { kind: 'bug', error: result.reason, ids: {} })
      }
    }
    return entries.map(({ entryId }) => results.get(entryId) as Result)
  }

  /** Handles an entry again, without the other entries of its delivery, because they may have caused the bug. */
  async function deliverAlone(entry: BulkEntry, position: RecordPosition, whole: ObservedDelivery): Promise<Result> {
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

  /** Returns the outcome of each entry. A failed entry is delivered again, and so are all later entries with the same key. */
  function outcomesOf(entries: BulkEntry[], results: Result[]): Outcome[] {
    const held = new Set<string>()
    return entries.map(({ metadata: { __key: key = '' } }, index): Outcome => {
      const result = results[index]
      if (typeof result === 'string' && (key === '' || !held.has(key))) return result
      held.add(key)
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
    async deliver(entries) {
      const positions = entries.map((entry) => positionOf(entry, topic))
      const whole = observeDelivery(entries, now(), observed)
      const results = brake.reason() === undefined ? await deliverTogether(entries, whole) : entries.map(stopped)
      for (const [index, entry] of entries.entries()) {
        const result = results[index] as Result
        if (typeof result === 'string' || result.kind !== 'bug') continue
        const isStopped = brake.reason() !== undefined
        results[index] = isStopped ? stopped() : await deliverAlone(entry, positions[index] as RecordPosition, whole)
      }
      const failure = results.find((result) => typeof result !== 'string')
      if (failure)
        log.error({ err: failure.error, topic, ...failure.ids }, 'a part of the batch will be delivered again')
      const outcomes = outcomesOf(entries, results)
      countDeliveries(positions, outcomes)
      whole.end(outcomes, failure && errorType(failure.error))
      return entries.map(({ entryId }, index) => ({
        entryId,
        status: outcomes[index] === 'retried' ? 'RETRY' : 'SUCCESS',
      }))
    },
    stoppedBy: brake.reason,
    redelivered: () => redeliveries.worst().filter(({ deliveries }) => deliveries > manyDeliveries),
  }

  function stopped(): Failure {
    return { kind: 'infrastructure', error: new Error(brake.reason()), ids: {} }
  }
}

const windowSize = 1_000
/** The allowed share of events with bugs among the latest `windowSize` events. Above this share, the service stops consuming the topic. */
const maxShare = 0.05
/** The smallest number of bugs at which the service stops consuming a topic. */
const minBugs = 20

interface Brake {
  /**
   * Counts an event after its last attempt. `isBug` is true if the event became a dead letter because of a bug (`handler-error`, `internal-error`).
   */
  ended(isBug: boolean): void
  reason(): string | undefined
}

/**
 * Stops the consumption of a topic if too many events meet a bug. Otherwise a bad deployment would turn the whole log into dead letters. The service
 * consumes the topic again only after a restart, because usually only a new version of the service succeeds.
 */
function createBrake(topic: string): Brake {
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
        '(handler-error, internal-error); deploy a version without the bug, or restart the service to continue'
    },
    reason: () => reason,
  }
}

export interface Redelivered extends RecordPosition {
  deliveries: number
}

/** The number of deliveries after which a record needs an operator. The sidecar repeats a delivery every second (components/resiliency.yaml). */
const manyDeliveries = 10

/**
 * The time after which the count of a record's deliveries is deleted. If the record is not delivered in this time, another replica has received it.
 */
const forgottenAfterMs = 60_000

interface Redeliveries {
  failed(position: RecordPosition): number
  ended(position: RecordPosition): void
  /** Returns, for each partition, the record with the most failed deliveries. */
  worst(): Redelivered[]
}

function createRedeliveries(now: () => Date): Redeliveries {
  const counts = new Map<string, { position: RecordPosition; deliveries: number; at: number }>()

  function forgetOld(): void {
    const oldest = now().getTime() - forgottenAfterMs
    for (const [key, { at }] of counts) if (at < oldest) counts.delete(key)
  }

  return {
    failed(position) {
      const key = positionText(position)
      const deliveries = (counts.get(key)?.deliveries ?? 0) + 1
      counts.set(key, { position, deliveries, at: now().getTime() })
      return deliveries
    },
    ended(position) {
      // The check is faster than creating the key, and the map is nearly always empty.
      if (counts.size > 0) counts.delete(positionText(position))
    },
    worst() {
      forgetOld()
      const worst = new Map<number, Redelivered>()
      for (const { position, deliveries } of counts.values()) {
        if (deliveries > (worst.get(position.partition)?.deliveries ?? 0)) {
          worst.set(position.partition, { ...position, deliveries })
        }
      }
      return [...worst.values()]
    },
  }
}

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
