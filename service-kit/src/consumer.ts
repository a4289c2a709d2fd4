import {
  checkPayload,
  completeEnvelope,
  type Envelope,
  EnvelopeError,
  type EventName,
  type EventOf,
  parseEnvelope,
} from '@orderflow/envelope-schema'
import { OverloadError } from './batcher.ts'
import { deadLetterOf, type Fault } from './dead-letter.ts'
import { type BulkEntry, type Delivery, readDelivery } from './delivery.ts'
import type { Logger } from './log.ts'
import type { Publish } from './publisher.ts'
import { SidecarError } from './sidecar.ts'

/** A valid event, with every id it needs: those a reduced envelope lacks are derived from its place in the log. */
export type Received<N extends EventName> = { [K in N]: EventOf<K> & Envelope }[N]

/** An event that contradicts what is known and always will: it becomes a dead letter with this code. */
export class PermanentFault extends Error {
  readonly fault: Fault
  constructor(code: string, detail: string) {
    super(`${code}: ${detail}`)
    this.name = 'PermanentFault'
    this.fault = { code, detail }
  }
}

export interface ConsumerOptions<N extends EventName> {
  app: string
  topic: string
  /** Names this service reacts to; all others pass unnoticed. */
  handles: readonly N[]
  /** Called for the whole batch at once, in order. A rejection is infrastructure, `PermanentFault`, or a bug. */
  handle: (event: Received<N>) => Promise<void>
  publish: Publish
  log: Logger
  now: () => Date
}

export type Consumer = (entries: BulkEntry[]) => Promise<{ entryId: string; status: 'SUCCESS' | 'RETRY' }[]>

/**
 * Handles a bulk delivery of one topic, entry by entry yet all at once. An entry ends as handled, as a dead letter
 * (a permanent fault), or as RETRY (the sidecar, store or broker failed) together with all later entries of its key.
 */
export function createConsumer<N extends EventName>(options: ConsumerOptions<N>): Consumer {
  const { app, topic, handle, publish, log, now } = options
  const handles = new Set<string>(options.handles)

  function parse(delivery: Delivery): Received<N> | undefined {
    const envelope = parseEnvelope(delivery.value)
    if (!handles.has(envelope.Name)) return undefined
    return completeEnvelope(checkPayload(envelope), delivery.origin) as Received<N>
  }

  async function settle(delivery: Delivery): Promise<void> {
    try {
      const event = parse(delivery)
      if (event) await handle(event)
    } catch (error) {
      if (isInfrastructure(error)) throw error
      const fault = faultOf(error)
      await publish(deadLetterOf(delivery, fault, app, now()))
      log.warn({ ...delivery.origin, reason: fault.code, detail: fault.detail }, 'event dead-lettered')
    }
  }

  return async (entries) => {
    const deliveries = entries.map((entry) => readDelivery(entry, topic))
    const results = await Promise.allSettled(deliveries.map(settle))
    const held = new Set<string>()
    const failure = results.find((result) => result.status === 'rejected')
    if (failure) log.error({ err: failure.reason, topic }, 'batch will be delivered again in part')
    return deliveries.map(({ entryId, escapedKey = '' }, index) => {
      const failed = results[index]?.status === 'rejected' || (escapedKey !== '' && held.has(escapedKey))
      if (failed) held.add(escapedKey)
      return { entryId, status: failed ? 'RETRY' : 'SUCCESS' }
    })
  }
}

function isInfrastructure(error: unknown): boolean {
  return error instanceof SidecarError || error instanceof OverloadError
}

/** What can never succeed: an invalid event, a contradiction, or a bug in the handler that this event meets. */
function faultOf(error: unknown): Fault {
  if (error instanceof PermanentFault) return error.fault
  if (error instanceof EnvelopeError) return { code: error.code, detail: JSON.stringify(error.problems) }
  return { code: 'handler-error', detail: error instanceof Error ? `${error.name}: ${error.message}` : 'unknown' }
}
