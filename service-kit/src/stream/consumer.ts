import { isRefusal, type OutgoingEvent } from '../sidecar/sidecar.ts'
import { whileHandling } from '../telemetry/handling.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Trust } from '../trust/trust.ts'
import { deadLetterOf, minimalDeadLetter } from './dead-letter.ts'
import { type BulkEntry, type Delivery, readDelivery } from './delivery.ts'
import { type Fault, faultOf, isInfrastructure } from './fault.ts'
import { createIntake, type Handlers, type Reactions } from './intake.ts'
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
  const { app, publish, trust, refusals, log, now } = options
  const intake = createIntake(
    handlers,
    (envelope, evidence) => trust.requireTrusted(topic, envelope, evidence),
    createUnhandledCounter(topic, log),
  )

  async function settle(delivery: Delivery): Promise<void> {
    const fault = await whileHandling(delivery.value, () => handle(delivery))
    if (!fault) return
    await publishLetter(deadLetterOf(delivery, fault, app, now()), () => minimalDeadLetter(delivery, fault, app, now()))
    log.warn({ ...delivery.place, reason: fault.code, detail: fault.detail }, 'event dead-lettered')
  }

  /** Answers why the event can never be handled; nothing when it was. */
  async function handle(delivery: Delivery): Promise<Fault | undefined> {
    try {
      await intake(delivery, delivery.origin)
      return undefined
    } catch (error) {
      if (isInfrastructure(error)) throw error
      return faultOf(error, refusals)
    }
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
    const results: PromiseSettledResult<void>[] = []
    // A delivery has no byte limit.
    for (const slice of slices(deliveries)) results.push(...(await Promise.allSettled(slice.map(settle))))
    const failure = results.find((result) => result.status === 'rejected')
    if (failure) log.error({ err: failure.reason, topic }, 'batch will be delivered again in part')
    const held = new Set<string>()
    return deliveries.map(({ entryId, escapedKey = '' }, index) => {
      const failed = results[index]?.status === 'rejected' || (escapedKey !== '' && held.has(escapedKey))
      if (failed) held.add(escapedKey)
      return { entryId, status: failed ? 'RETRY' : 'SUCCESS' }
    })
  }
}
