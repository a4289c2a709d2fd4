import type { EventName } from '@orderflow/envelope-schema'
import type { Logger } from '../telemetry/log.ts'
import { deadLetterOf } from './dead-letter.ts'
import { type BulkEntry, type Delivery, readDelivery } from './delivery.ts'
import { faultOf, isInfrastructure } from './fault.ts'
import { type Handler, take } from './intake.ts'
import type { Publish } from './publisher.ts'
import { slices } from './slices.ts'

export interface ConsumerOptions<N extends EventName> extends Handler<N> {
  app: string
  topic: string
  publish: Publish
  log: Logger
  now: () => Date
}

export type Consumer = (entries: BulkEntry[]) => Promise<{ entryId: string; status: 'SUCCESS' | 'RETRY' }[]>

/** A consumer for each topic's handler. */
export function createConsumers<N extends EventName>(
  handlers: Record<string, Handler<N>>,
  common: Omit<ConsumerOptions<N>, 'topic' | keyof Handler<N>>,
): Record<string, Consumer> {
  return Object.fromEntries(
    Object.entries(handlers).map(([topic, handler]) => [topic, createConsumer<N>({ ...common, topic, ...handler })]),
  )
}

/**
 * Handles a bulk delivery of one topic, entry by entry yet all at once. An entry ends as handled, as a dead letter
 * (a permanent fault), or as RETRY (the sidecar, store or broker failed). With a RETRY all later entries of its key are
 * delivered again too, so that what comes again comes in order.
 */
export function createConsumer<N extends EventName>(options: ConsumerOptions<N>): Consumer {
  const { app, topic, publish, log, now } = options

  async function settle(delivery: Delivery): Promise<void> {
    try {
      await take(options, delivery.value, delivery.origin)
    } catch (error) {
      if (isInfrastructure(error)) throw error
      const fault = faultOf(error)
      await publish(deadLetterOf(delivery, fault, app, now()))
      log.warn({ ...delivery.place, reason: fault.code, detail: fault.detail }, 'event dead-lettered')
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
