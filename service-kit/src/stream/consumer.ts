import {
  completeEnvelope,
  deadLetterTopic,
  type Envelope,
  type ReceivedEnvelope,
  typeOf,
} from '@orderflow/envelope-schema'
import { isRefusal, type OutgoingEvent } from '../sidecar/sidecar.ts'
import { type Handling, handled, type Ids, idsOf, noteIds, nowHandling, within } from '../telemetry/handling.ts'
import type { Logger } from '../telemetry/log.ts'
import { asSpan, errorType } from '../telemetry/spans.ts'
import { traceparentOf } from '../telemetry/trace.ts'
import type { Tracing } from '../telemetry/tracing.ts'
import type { Trust } from '../trust/trust.ts'
import { deadLetterOf, minimalDeadLetter } from './dead-letter.ts'
import { type BulkEntry, type Delivery, readDelivery } from './delivery.ts'
import { DeliverySpan } from './delivery-span.ts'
import { type Fault, faultOf, isInfrastructure } from './fault.ts'
import { createIntake, type Handlers, type Reactions } from './intake.ts'
import { topicAttributes } from './messaging.ts'
import type { PublishRecord } from './publisher.ts'
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
  now: () => Date
  tracing?: Tracing | undefined
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
  const intake = createIntake(
    handlers,
    (envelope, evidence) => trust.requireTrusted(topic, envelope, evidence),
    createUnhandledCounter(topic, log),
  )

  /** Answers why an event will be delivered again; nothing when it is done with. */
  async function settle(delivery: Delivery, spans: DeliverySpan | undefined): Promise<Failure | undefined> {
    const handling: Handling = { document: delivery.value, traceparent: delivery.traceparent }
    const onRead = spans ? (envelope: Envelope) => read(handling, delivery, envelope, spans) : noteIds
    return within(handling, async () => {
      try {
        const fault = await handle(delivery, onRead)
        if (fault) await putAside(delivery, fault, onRead)
        handling.span?.end(fault?.code)
        return undefined
      } catch (error) {
        handling.span?.end(errorType(error))
        return { error, ids: idsOf(handling) }
      }
    })
  }

  function read(handling: Handling, delivery: Delivery, envelope: Envelope, spans: DeliverySpan): void {
    noteIds(envelope)
    spans.begin(handling, delivery, envelope)
    if (!handling.span) return
    const type = typeOf(envelope)
    if (Object.hasOwn(handlers, type)) handling.span.set({ 'orderflow.event.type': type })
  }

  /** Answers why the event can never be handled; nothing when it was. */
  async function handle(delivery: Delivery, onRead: (envelope: Envelope) => void): Promise<Fault | undefined> {
    try {
      await intake(delivery, delivery.origin, onRead)
      return undefined
    } catch (error) {
      if (isInfrastructure(error)) throw error
      return faultOf(error, refusals)
    }
  }

  async function putAside(delivery: Delivery, fault: Fault, onRead: (envelope: Envelope) => void): Promise<void> {
    // The fault is masked by now, and names of fields in it need not be.
    nowHandling(undefined)
    // What could not be read gets the ids of an envelope that has none.
    if (handled()?.eventId === undefined) onRead(completeEnvelope({} as ReceivedEnvelope, delivery.origin))
    const dead = deadLetterTopic(topic)
    const attributes = { ...topicAttributes('send', dead), 'orderflow.dead_letter.reason': fault.code }
    await asSpan(`send ${dead}`, { kind: 'producer', attributes }, () => {
      const span = handled()?.span
      const letter = span ? { ...delivery, traceparent: traceparentOf(span.place) } : delivery
      return publishLetter(deadLetterOf(letter, fault, app, now()), () => minimalDeadLetter(letter, fault, app, now()))
    })
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
    const spans = tracing && new DeliverySpan(tracing, { topic, group: app, count: entries.length })
    const results: (Failure | undefined)[] = []
    // A delivery has no byte limit.
    for (const slice of slices(deliveries)) {
      results.push(...(await Promise.all(slice.map((delivery) => settle(delivery, spans)))))
    }
    const failure = results.find((result) => result !== undefined)
    if (failure) log.error({ err: failure.error, topic, ...failure.ids }, 'batch will be delivered again in part')
    spans?.end(failure && errorType(failure.error))
    const held = new Set<string>()
    return deliveries.map(({ entryId, escapedKey = '' }, index) => {
      const failed = results[index] !== undefined || (escapedKey !== '' && held.has(escapedKey))
      if (failed) held.add(escapedKey)
      return { entryId, status: failed ? 'RETRY' : 'SUCCESS' }
    })
  }
}
