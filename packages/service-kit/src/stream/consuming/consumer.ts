import type { RecordPosition } from '@orderflow/kafka-log'
import { timeLimit } from '../../limits.ts'
import { errorType, type Tracing } from '../../telemetry/context.ts'
import type { Metrics, Outcome } from '../../telemetry/metrics.ts'
import type { Trust } from '../../trust/trust.ts'
import { faultCodes } from '../dead-letters/fault.ts'
import { type BulkEntry, keyOf, positionOf } from '../log/record.ts'
import { observeDelivery } from '../observed.ts'
import { type AcceptanceOptions, createAcceptances } from './acceptances.ts'
import { createBrake } from './brake.ts'
import { createPartHandler, type PartHandlerOptions } from './delivery-part.ts'
import {
  createEventHandler,
  type EventHandlerOptions,
  type Handlers,
  handledTypes,
  type Reactions,
  type Result,
} from './event-handler.ts'
import { createPartitionTurns, type Turn } from './partition-turns.ts'
import { createRedeliveries, type Redelivered } from './redeliveries.ts'
import { createUnhandledCounter } from './unhandled.ts'

export interface ConsumerOptions
  extends Pick<EventHandlerOptions, 'refusals' | 'isStored'>,
    AcceptanceOptions,
    PartHandlerOptions {
  trust: Pick<Trust, 'requireTrusted' | 'asksForSignature'>
  metrics: Pick<Metrics, 'topic'>
  /** Returns the reason why the service may handle no event; otherwise undefined. */
  blockedBy?: () => string | undefined
  tracing?: Tracing | undefined
}

type Status = { entryId: string; status: 'SUCCESS' | 'RETRY' }

export type Consumer = ReturnType<typeof createConsumer>

export function createConsumers(reactions: Reactions, options: ConsumerOptions): Record<string, Consumer> {
  const create = ([topic, handlers]: [string, Handlers]) => [topic, createConsumer(topic, handlers, options)]
  return Object.fromEntries(Object.entries(reactions).map(create))
}

/**
 * Handles the events of one topic. A delivery of an event has one of three results:
 * - The event is handled, or becomes a dead letter if it can never be handled.
 * - The event is delivered again, without limit, if the sidecar, the store or the broker failed.
 * - After any other error (a bug), the event is handled again, alone. After a second bug, it becomes a dead letter (docs/adr/0030).
 */
export function createConsumer(topic: string, handlers: Handlers, options: ConsumerOptions) {
  const { app, refusals, log, now, tracing } = options
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

  const handlePart = createPartHandler(topic, handler, options)
  const turns = createPartitionTurns()
  const acceptances = createAcceptances(topic, options)

  /** Returns a function that returns the reason why a delivery may attempt no further record; otherwise undefined. */
  const blockOf = (turn: Turn, begun: number) => (): string | undefined => {
    const isLate = performance.now() - begun > timeLimit(maxDeliveryMs)
    if (isLate) return `the earlier records of the delivery took more than ${maxDeliveryMs} ms`
    const again = turn.isOver ? 'the sidecar delivers this record again' : undefined
    return brake.reason() ?? options.blockedBy?.() ?? again
  }

  /**
   * Returns the entries to handle. It leaves out those of held keys. It also leaves out records with a dead letter, because later records of their key may
   * have taken effect.
   */
  const dueIn = (entries: readonly BulkEntry[], held: ReadonlySet<string | undefined>, turn: Turn): BulkEntry[] =>
    entries.filter((entry) => !held.has(keyOf(entry)) && !turn.hasDeadLetter(entry))

  /**
   * Returns the outcome of each entry.
   * @param held the keys of failed entries, to which this function adds keys
   */
  function outcomesOf(
    entries: readonly BulkEntry[],
    results: ReadonlyMap<BulkEntry, Result>,
    held: Set<string | undefined>,
    turn: Turn,
  ): Outcome[] {
    return entries.map((entry): Outcome => {
      const [key, result] = [keyOf(entry), results.get(entry)]
      if (typeof result === 'string') return result
      if (turn.hasDeadLetter(entry)) return 'duplicate'
      if (key !== undefined) held.add(key)
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
    /**
     * Handles the entries of a bulk delivery, one part after the other, and returns a status for each entry. Records with the same key are handled in
     * sequence. If an entry gets RETRY, all later entries with the same key get RETRY, too, without an attempt.
     */
    async deliver(parts: AsyncIterable<BulkEntry[]> | Iterable<BulkEntry[]>): Promise<Status[]> {
      const begun = performance.now()
      const whole = observeDelivery(now(), observed)
      const held = new Set<string | undefined>()
      const outcomes: Outcome[] = []
      const statuses: Status[] = []
      let error: string | undefined
      let turn: Turn | undefined
      try {
        for await (const entries of parts) {
          const positions = entries.map((entry) => positionOf(entry, topic))
          whole.add(entries)
          if (!positions[0]) continue
          turn ??= turns.begin(positions[0].partition)
          const own = turn
          const accept = own.isContinued ? undefined : acceptances(entries)
          const results = await turn.run(async () => {
            const handled = await handlePart(dueIn(entries, held, own), whole, blockOf(own, begun), !own.isContinued)
            // In the same step, because the next step may belong to a repeated delivery, which must leave out these records.
            for (const [entry, result] of handled) if (result === 'dead-letter') own.noteDeadLetter(entry)
            return handled
          })
          await accept?.(results)
          const failure = [...results.values()].find((result) => typeof result !== 'string')
          if (failure && error === undefined) {
            error = errorType(failure.error)
            log.error({ err: failure.error, topic, ...failure.ids }, 'a part of the batch will be delivered again')
          }
          const partOutcomes = outcomesOf(entries, results, held, own)
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
        turn?.end()
        whole.end(outcomes, error)
      }
      return statuses
    },
    /** Returns the reason why the service stopped consuming the topic; otherwise undefined. */
    stoppedBy: brake.reason,
    /** Returns the records that failed in more than `manyDeliveries` deliveries, at most one for each partition. */
    redelivered: (): Redelivered[] => redeliveries.worst().filter(({ deliveries }) => deliveries > manyDeliveries),
  }
}

/**
 * The time after which the remaining records of a delivery get RETRY without an attempt. The sidecar ignores the answer after 60 s
 * (components/resiliency.yaml) and would repeat all records. The last record may take 10 s (handler-time.ts), and wait for two calls of 10 s
 * (sidecar/dapr-sidecar.ts).
 */
const maxDeliveryMs = 30_000

/** The number of deliveries after which a record needs an operator. The sidecar repeats a delivery every second (components/resiliency.yaml). */
const manyDeliveries = 10
