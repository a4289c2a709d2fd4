import { completeEnvelope, deadLetterTopic, type Envelope, type ReceivedEnvelope } from '@orderflow/envelope-schema'
import type { OutgoingEvent } from '../sidecar/sidecar.ts'
import { isRefusal } from '../sidecar/sidecar-error.ts'
import { type Handling, handled, type Ids, idsOf, nowHandling, within } from '../telemetry/handling.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Outcome } from '../telemetry/metrics/events.ts'
import type { Metrics } from '../telemetry/metrics/metrics.ts'
import { asSpan, errorType } from '../telemetry/traces/spans.ts'
import { traceparentOf } from '../telemetry/traces/trace.ts'
import type { Tracing } from '../telemetry/traces/tracing.ts'
import type { Trust } from '../trust/trust.ts'
import { deadLetterOf, minimalDeadLetter } from './dead-letter.ts'
import { type BulkEntry, type Delivery, readDelivery } from './delivery.ts'
import { type Fault, faultCodes, faultOf, isInfrastructure } from './fault.ts'
import { createIntake, type Handlers, type Reactions } from './intake.ts'
import { topicAttributes } from './messaging.ts'
import { ObservedDelivery } from './observed-delivery.ts'
import type { PublishRecord } from './publisher.ts'
import { idSourceOf, keyBytes } from './record-ids.ts'
import { slices } from './slices.ts'
import { createUnhandledCounter } from './unhandled.ts'

export interface ConsumerOptions {
  /** The service's name, as on its dead letters. */
  app: string
  publish: PublishRecord
  trust: Pick<Trust, 'requireTrusted'>
  /** Codes of the domain's errors, which become the reasons of dead letters. */
  refusals: ReadonlySet<string>
  log: Logger
  metrics: Pick<Metrics, 'topic'>
  now: () => Date
  tracing?: Tracing | undefined
  /** See `momentOf`. */
  positionIdsBefore?: number | undefined
}

/** An event that will be delivered again. */
interface Failure {
  error: unknown
  ids: Ids
}

export type Consumer = (entries: BulkEntry[]) => Promise<{ entryId: string; status: 'SUCCESS' | 'RETRY' }[]>

/** A consumer for each topic. */
export function createConsumers(reactions: Reactions, options: ConsumerOptions): Record<string, Consumer> {
  const consumers = Object.entries(reactions).map(([topic, handlers]) => [
    topic,
    createConsumer(topic, handlers, options),
  ])
  return Object.fromEntries(consumers)
}

/**
 * Handles a bulk delivery of one topic, entry by entry yet all at once. An entry ends as handled, as a dead letter
 * (a permanent fault), or as RETRY (the sidecar, store or broker failed). With a RETRY all later entries of its key are
 * delivered again too, so that what comes again comes in order.
 */
export function createConsumer(topic: string, handlers: Handlers, options: ConsumerOptions): Consumer {
  const { app, publish, trust, refusals, log, now, tracing } = options
  const sourceOf = (delivery: Delivery) =>
    idSourceOf({ ...delivery, key: keyBytes(delivery.escapedKey) }, options.positionIdsBefore)
  const metrics = options.metrics.topic(topic, faultCodes(refusals))
  const observed = { topic, group: app, types: new Set(Object.keys(handlers)), metrics, tracing }
  const logUnhandled = createUnhandledCounter(topic, log)
  const intake = createIntake(
    handlers,
    (envelope, evidence) => trust.requireTrusted(topic, envelope, evidence),
    (type) => {
      logUnhandled(type)
      metrics.unhandled(type)
    },
  )

  /** Answers what became of an event, or why it will be delivered again. */
  async function settle(delivery: Delivery, whole: ObservedDelivery): Promise<Outcome | Failure> {
    const { value: document, traceparent, arrivedAt } = delivery
    const handling: Handling = { document, traceparent, arrivedAt }
    const onRead = (envelope: Envelope) => whole.read(handling, delivery, envelope)
    return within(handling, async () => {
      try {
        const result = await handle(delivery, onRead)
        const fault = typeof result === 'string' ? undefined : result
        if (fault) await putAside(delivery, fault, onRead)
        handling.span?.end(fault?.code)
        return typeof result === 'string' ? result : 'dead-letter'
      } catch (error) {
        handling.span?.end(errorType(error))
        return { error, ids: idsOf(handling) }
      }
    })
  }

  /** Answers what became of an event, or why it can never be handled. */
  async function handle(delivery: Delivery, onRead: (envelope: Envelope) => void): Promise<Outcome | Fault> {
    try {
      const taken = await intake(delivery, sourceOf(delivery), onRead)
      if (!taken) return 'unhandled'
      const { causedAt } = delivery
      if (causedAt !== undefined) metrics.reacted(taken.type, Math.max(0, now().getTime() - causedAt))
      return taken.answer === false ? 'duplicate' : 'handled'
    } catch (error) {
      if (isInfrastructure(error)) throw error
      return faultOf(error, refusals)
    }
  }

  async function putAside(delivery: Delivery, fault: Fault, onRead: (envelope: Envelope) => void): Promise<void> {
    // The fault is masked by now, and names of fields in it need not be.
    nowHandling(undefined)
    // What could not be read gets the ids of an envelope that has none.
    if (handled()?.eventId === undefined) onRead(completeEnvelope({} as ReceivedEnvelope, sourceOf(delivery)))
    const dead = deadLetterTopic(topic)
    const attributes = { ...topicAttributes('send', dead), 'orderflow.dead_letter.reason': fault.code }
    await asSpan(`send ${dead}`, { kind: 'producer', attributes }, () => {
      const span = handled()?.span
      const letter = span ? { ...delivery, traceparent: traceparentOf(span.place) } : delivery
      return publishLetter(deadLetterOf(letter, fault, app, now()), () => minimalDeadLetter(letter, fault, app, now()))
    })
    metrics.deadLetter(fault.code)
    log.warn({ ...delivery.place, reason: fault.code, detail: fault.detail }, 'event dead-lettered')
  }

  /** What its topic refuses would come again for ever: then as much of it as the topic takes. */
  async function publishLetter(whole: OutgoingEvent, minimal: () => OutgoingEvent): Promise<void> {
    try {
      await publish(whole)
    } catch (error) {
      if (!isRefusal(error)) throw error
      await publish(minimal())
    }
  }

  return async (entries) => {
    const deliveries = entries.map((entry) => readDelivery(entry, topic))
    const whole = new ObservedDelivery(deliveries, now(), observed)
    const results: (Outcome | Failure)[] = []
    // A delivery has no byte limit.
    for (const slice of slices(deliveries)) {
      results.push(...(await Promise.all(slice.map((delivery) => settle(delivery, whole)))))
    }
    const failure = results.find((result) => typeof result !== 'string')
    if (failure) log.error({ err: failure.error, topic, ...failure.ids }, 'batch will be delivered again in part')
    const held = new Set<string>()
    const outcomes = deliveries.map(({ escapedKey = '' }, index): Outcome => {
      const result = results[index]
      if (typeof result === 'string' && (escapedKey === '' || !held.has(escapedKey))) return result
      held.add(escapedKey)
      return 'retried'
    })
    whole.end(outcomes, failure && errorType(failure.error))
    return deliveries.map(({ entryId }, index) => ({
      entryId,
      status: outcomes[index] === 'retried' ? 'RETRY' : 'SUCCESS',
    }))
  }
}
