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

export interface ConsumerOptions
  extends Pick<EventHandlerOptions, 'app' | 'publish' | 'refusals' | 'now' | 'positionIdsBefore'> {
  trust: Pick<Trust, 'requireTrusted' | 'asksForSignature'>
  appendTimes: AppendTimes
  log: Logger
  metrics: Pick<Metrics, 'topic'>
  tracing?: Tracing | undefined
}

/** The consumer of one topic's deliveries. */
export interface Consumer {
  /**
   * Handles a bulk delivery, entry by entry yet all at once. Returns a status for each entry. An event ends as handled or as a dead letter;
   * with a RETRY, all later entries of its key are delivered again, too, so that their order stays.
   */
  deliver(entries: BulkEntry[]): Promise<{ entryId: string; status: 'SUCCESS' | 'RETRY' }[]>
  /** Returns why the topic is no longer consumed (`Brake`); undefined while it is. */
  stoppedBy(): string | undefined
  /** Returns the records that were delivered more than `manyDeliveries` times and are not handled yet, one for each partition at most. */
  redelivered(): Redelivered[]
}

/** Returns a consumer for each topic. */
export function createConsumers(reactions: Reactions, options: ConsumerOptions): Record<string, Consumer> {
  const consumers = Object.entries(reactions).map(([topic, handlers]) => [
    topic,
    createConsumer(topic, handlers, options),
  ])
  return Object.fromEntries(consumers)
}

/**
 * Handles the events of one topic. Each ends in one of three ways:
 * - handled, or a dead letter when it can never be handled;
 * - delivered again, without limit, when the sidecar, store or broker failed;
 * - any other error is a bug: the event is tried once more, alone, and becomes a dead letter when it fails again (docs/adr/0030).
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
   * Completes deliveries that need no signature if their time is the broker's. That time decides who is trusted, so Kafka is asked whose
   * it is. Returns the failure of that request.
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

  /** Handles all entries at once. An error of one entry does not affect the others. */
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
    // A delivery has no byte limit.
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

  /** Handles an entry that met a bug once more, alone, because the other entries may have caused it. */
  async function deliverAlone(entry: BulkEntry, position: RecordPosition, whole: ObservedDelivery): Promise<Result> {
    try {
      const delivery = readDelivery(entry, topic)
      const failure = await completeTimes([delivery])
      const result = failure ?? (await handler.attempt(delivery, whole, true))
      if (typeof result === 'string' || result.kind === 'infrastructure') return result
    } catch (error) {
      // The message may quote the record.
      log.error({ reason: errorType(error), ...position }, 'a bug: this service failed on a record')
    }
    return handler.giveUp(position)
  }

  /** Returns the outcome of each entry. Failed entries, and later ones of their keys, are delivered again. */
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
        log.error({ ...position, deliveries: manyDeliveries + 1 }, 'this record is delivered again and again')
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
      if (failure) log.error({ err: failure.error, topic, ...failure.ids }, 'batch will be delivered again in part')
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

/** Number of a topic's last events that the brake considers. */
const windowSize = 1_000
/** The topic stops above this share of bugs in the window. */
const maxShare = 0.05
/** The topic never stops below this number of bugs, so that a few events that meet a bug stop nothing. */
const minBugs = 20

/** Decides whether a topic is still consumed, by how its last events ended. */
interface Brake {
  /** Records how an event ended: with a bug (`handler-error`, `internal-error`) or in any other way. */
  ended(isBug: boolean): void
  /** Returns why the topic is no longer consumed, for an operator; undefined while it is. */
  reason(): string | undefined
}

/**
 * Stops a topic if too many of its events meet a bug. Otherwise a bad deployment would turn the whole log into dead letters. The topic stays
 * stopped until the process restarts, because only another version of the service is likely to succeed.
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
        '(handler-error, internal-error); deploy a version without it, or restart the service to go on'
    },
    reason: () => reason,
  }
}

/** A record that is delivered repeatedly. */
export interface Redelivered extends RecordPosition {
  deliveries: number
}

/** A record that is delivered more often needs an operator's attention. The sidecar delivers once a second (components/resiliency.yaml). */
const manyDeliveries = 10

/** A record that was not delivered for this long has another replica, or was handled. */
const forgottenAfterMs = 60_000

/** Counts the deliveries of records that cannot be handled now. */
interface Redeliveries {
  /** Counts a failed delivery of a record, and returns their number. */
  failed(position: RecordPosition): number
  /** Forgets a record that was handled or became a dead letter. */
  ended(position: RecordPosition): void
  /** Returns the record of each partition that was delivered most often. */
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
      // Saves making the key: the map is nearly always empty.
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

/** An unhandled type is logged once in this time. */
const logPeriodMs = 60_000
/** Limits the types that are counted separately in a period, because publishers choose the names. */
const maxTypes = 50
const otherTypes = '(others)'
const oddType = '(no plain name)'
/** Characters of a name in a log line. A name may have 200. */
const maxNameLength = 80
/** Pattern of an event's name. Any other text may be personal data. */
const plainName = /^[\w.:/-]+(@\d+)?$/

/**
 * Counts events without a handler, by `Name@Version`. It logs the first of each at once, and their number when the period ends. This
 * is enough to find a misspelt name, without a line per event.
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
    if (count === 1) log.info({ topic, event }, 'no handler for this event; more of them are counted for a minute')
  }
}
