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
 * (a permanent fault), or as RETRY (the sidecar, store or broker failed). With a RETRY all later entries of its key are
 * delivered again too, so that what comes again comes in order.
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
      if (event) await handle(event).catch(rethrow)
    } catch (error) {
      if (isInfrastructure(error)) throw error
      const fault = faultOf(error)
      await publish(deadLetterOf(delivery, fault, app, now()))
      log.warn({ ...delivery.origin, reason: fault.code, detail: fault.detail }, 'event dead-lettered')
    }
  }

  return async (entries) => {
    const deliveries = entries.map((entry) => readDelivery(entry, topic))
    const results: PromiseSettledResult<void>[] = []
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

/** A delivery has no byte limit, and a parsed event is many times its size: so much is parsed at a time. */
const maxSliceBytes = 2 * 1024 * 1024

function slices(deliveries: Delivery[]): Delivery[][] {
  const all: Delivery[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const delivery of deliveries) {
    bytes += delivery.value.byteLength
    if (bytes > maxSliceBytes) {
      all.push([])
      bytes = delivery.value.byteLength
    }
    all.at(-1)?.push(delivery)
  }
  return all
}

/** An envelope that the handler could not make is a bug of ours, not a fault of the event that it reacts to. */
function rethrow(error: unknown): never {
  throw error instanceof EnvelopeError ? new Error('the reaction is not a valid event', { cause: error }) : error
}

/** Whether the platform failed, and the same may succeed later: nothing is wrong with the event or request. */
export function isInfrastructure(error: unknown): boolean {
  return error instanceof OverloadError || (error instanceof SidecarError && error.failure !== 'refused')
}

/** What can never succeed: an invalid event, a contradiction, or a bug in the handler that this event meets. */
function faultOf(error: unknown): Fault {
  if (error instanceof PermanentFault) return error.fault
  if (error instanceof EnvelopeError) return { code: error.code, detail: JSON.stringify(error.problems) }
  if (error instanceof SidecarError) return { code: 'refused', detail: error.message }
  return { code: 'handler-error', detail: error instanceof Error ? `${error.name}: ${error.message}` : 'unknown' }
}
