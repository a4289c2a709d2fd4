import type { Envelope } from '@orderflow/envelope-schema'
import { createBatcher, type QueueWatch } from '../sidecar/batcher.ts'
import { isRefusal, type OutgoingEvent, type Sidecar } from '../sidecar/sidecar.ts'
import { handled } from '../telemetry/handling.ts'
import { signatureHeader } from '../trust/signature.ts'
import type { Trust } from '../trust/trust.ts'
import { causedAt } from './record-headers.ts'

/**
 * Publishes one record; resolves when the broker has it.
 * @throws {SidecarError} it is not known whether the event is out
 * @throws {OverloadError} it is not
 */
export type PublishRecord = (event: OutgoingEvent) => Promise<void>

/**
 * A bulk publish becomes one record batch per partition, and Kafka's `max.message.bytes` (256 KiB, packages/service-kit/src/stream/topic-settings.ts) is the
 * limit of a batch, not of a record: so it must hold when all of them go to one partition.
 */
const limits = { maxItems: 500, maxBytes: 192 * 1024, maxWaiting: 10_000 }

/**
 * A publisher whose concurrent callers share bulk publishes, in the order of their calls. Each topic has a queue of
 * its own, so that one which hangs holds up no other.
 * @param watchOf who is told of a topic's batches
 */
export function createPublisher(sidecar: Sidecar, watchOf?: (topic: string) => QueueWatch): PublishRecord {
  const queues = new Map<string, PublishRecord>()
  const open = (topic: string): PublishRecord => {
    const flush = async (events: OutgoingEvent[]) => {
      await sidecar.publish(topic, events)
      return events.map(() => ({ ok: true as const, value: undefined }))
    }
    const queue = createBatcher<OutgoingEvent, void>({
      flush,
      isRefusal,
      sizeOf,
      ...limits,
      minIntervalMs: sidecar.writeIntervalMs,
      watch: watchOf?.(topic),
    })
    queues.set(topic, queue)
    return queue
  }
  return (event) => (queues.get(event.topic) ?? open(event.topic))(event)
}

/** The key travels twice: as the record's key and among its headers. */
function sizeOf({ value, key = '', headers }: OutgoingEvent): number {
  const texts = [key, key, ...Object.entries(headers).flat()]
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), value.byteLength)
}

/**
 * An envelope as the record that carries it: the Kafka value is the envelope itself, with the signature of our services; of a reaction also
 * when its cause reached the log.
 * @param traceparent of the span that it is published by, in the trace that its TraceId names; undefined where nobody records that
 * @throws {Error} a service publishes what nobody knows that it does
 */
export function recordOf(
  topic: string,
  key: string,
  envelope: Envelope,
  trust: Pick<Trust, 'sign'>,
  traceparent?: string,
): OutgoingEvent {
  const value = Buffer.from(JSON.stringify(envelope))
  const signature = trust.sign(topic, envelope, value)
  const arrival = handled()?.arrivedAt
  return {
    topic,
    key,
    value,
    headers: {
      ...(traceparent && { traceparent }),
      ...(signature && { [signatureHeader]: signature }),
      ...(arrival && { [causedAt]: String(arrival) }),
    },
  }
}
