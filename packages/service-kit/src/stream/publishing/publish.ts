import { type Envelope, type ReceivedEnvelope, typeOf } from '@orderflow/envelope'
import { keyFields, keyOf, topicOfEvent } from '@orderflow/envelope/kafka'
import { createBatcher, type QueueWatch } from '../../sidecar/batcher.ts'
import { isRefusal, type OutgoingEvent, type Sidecar } from '../../sidecar/sidecar.ts'
import {
  ended,
  handled,
  noteIds,
  spanContextIn,
  type TraceHeaders,
  type Tracing,
  traceIdOf,
  traceparentOf,
  within,
} from '../../telemetry/context.ts'
import { signatureHeader, type Trust } from '../../trust/trust.ts'
import { causedAt } from '../log/record.ts'
import { sendAttributes } from '../observed.ts'
import { requireLimit, requireSize, type TopicLimit } from './topic-limit.ts'

/**
 * Publishes an envelope to a topic. The partition key consists of the Payload's fields that services.json declares as the topic's `key`. Resolves when
 * the broker has the record. Rejects with `RefusedEventError` if Kafka can never accept the event.
 */
export type Publish = (topic: string, envelope: Envelope) => Promise<void>

/**
 * Thrown for an own event that Kafka can never accept, for example because it is too large. This is a bug of the service. All other failures of Kafka,
 * such as a missing topic or right, can end without a change of the event, so they are outages.
 */
export class RefusedEventError extends Error {
  readonly code = 'refused-event'
  constructor(topic: string, envelope: Envelope, cause: unknown) {
    const event = `${typeOf(envelope)} with the Id ${envelope.Id}`
    super(`Kafka cannot accept the event ${event} on ${topic}, so make it smaller: ${(cause as Error).message}`, {
      cause,
    })
    this.name = 'RefusedEventError'
  }
}

export type Forwarded = { envelope: ReceivedEnvelope; value: Uint8Array }

/** Publishes the envelope of another publisher, unchanged and unsigned. Resolves when the broker has the record. */
export type Forward = (topic: string, key: string | undefined, forwarded: Forwarded) => Promise<void>

/**
 * Returns a function that forwards envelopes. The function uses the envelope's trace. If the envelope has no TraceId, the function uses the request's
 * trace.
 */
export function createForward(publish: PublishRecord, tracing: Tracing | undefined): Forward {
  return (topic, key, { envelope, value }) =>
    inTrace(topic, key, envelope, tracing, (trace) => publish({ topic, key, value, headers: { ...trace } }))
}

/** Returns a function that signs a service's own events and publishes them, in the trace of their TraceId. */
export function createPublish(
  publish: PublishRecord,
  trust: Pick<Trust, 'sign'>,
  tracing: Tracing | undefined,
): Publish {
  return async (topic, envelope) => {
    noteIds(envelope)
    const key = keyOf(envelope, keyFields(envelope, topic))
    try {
      const record = (trace: TraceHeaders) => recordOf(topic, key, envelope, trust, trace)
      await inTrace(topic, key, envelope, tracing, (trace) => publish(record(trace)))
    } catch (error) {
      throw isRefusal(error) ? new RefusedEventError(topic, envelope, error) : error
    }
  }
}

/** The largest key, and headers for a trace and a signature. */
const besideBytes = 4_096

/** Refuses an event that is too large for its topic. It is called before the event is stored. @throws {RefusedEventError} */
export function requirePublishable(envelope: Envelope): void {
  // All other fields together are far below the limit.
  if (Buffer.byteLength(JSON.stringify(envelope.Payload)) < limits.maxBytes / 2) return
  const text = JSON.stringify(envelope)
  const topic = topicOfEvent(envelope.Name) as string
  try {
    requireSize({ topic, key: undefined, value: Buffer.from(text), headers: {} }, besideBytes)
  } catch (error) {
    throw new RefusedEventError(topic, envelope, error)
  }
}

/**
 * Publishes an event in its trace. If the trace is recorded, the record's `traceparent` names a new span. Otherwise the record gets the received
 * `traceparent`. In the trace of the received event or request, the record also gets its `tracestate`.
 */
function inTrace(
  topic: string,
  key: string | undefined,
  envelope: ReceivedEnvelope,
  tracing: Tracing | undefined,
  publish: (trace: TraceHeaders) => Promise<void>,
): Promise<void> {
  const span = tracing && spanOf(topic, key, envelope, tracing)
  if (!span) return publish(handedOn(envelope, tracing))
  return ended(span, () =>
    within({ ...handled(), document: undefined, span }, () =>
      publish({ traceparent: traceparentOf(span.context), ...tracestateOf(span.context.traceId) }),
    ),
  )
}

/**
 * Begins the span of a published event; undefined if the event's trace is not recorded. This trace differs from the trace of the current request if
 * an earlier request with the same Idempotency-Key created the event.
 */
function spanOf(topic: string, key: string | undefined, envelope: ReceivedEnvelope, tracing: Tracing) {
  const { span: outer, traceId: handledTrace } = handled() ?? {}
  // An envelope without a TraceId gets one when it is read from the log. Until then, it is in the trace of its request.
  const isSame = envelope.TraceId === undefined || handledTrace === envelope.TraceId
  const name = `send ${topic}`
  const options = () => ({ kind: 'producer', attributes: sendAttributes(topic, key, envelope) }) as const
  if (isSame) return outer?.child(name, options())
  const traceId = traceIdOf(envelope.TraceId ?? '')
  if (traceId === undefined || !tracing.isSampled(traceId, undefined)) return undefined
  return tracing.begin(name, traceId, undefined, { ...options(), links: outer ? [outer.context] : [] })
}

/**
 * Returns the headers for the record of an event without a span: the received headers, marked as unsampled. If they are missing, they are also missing
 * in the record. Then all services that receive the record make the same decision from the trace's id. A service that records no
 * traces forwards the header unchanged (https://www.w3.org/TR/trace-context/).
 */
function handedOn({ TraceId }: ReceivedEnvelope, tracing: Tracing | undefined): TraceHeaders {
  const { trace = {} } = handled() ?? {}
  const before = spanContextIn(trace.traceparent)
  if (!before || (TraceId !== undefined && before.traceId !== traceIdOf(TraceId))) return {}
  return tracing ? { ...trace, traceparent: traceparentOf({ ...before, isSampled: false }) } : trace
}

/** Returns the received `tracestate`, unless it belongs to another trace. */
function tracestateOf(traceId: string): Pick<TraceHeaders, 'tracestate'> {
  const { traceparent, tracestate } = handled()?.trace ?? {}
  return tracestate && spanContextIn(traceparent)?.traceId === traceId ? { tracestate } : {}
}

/**
 * Publishes one record; resolves when the broker has it.
 * @throws {SidecarError} if it is unknown whether the event was published
 * @throws {OverloadError} if the event was not published
 */
export type PublishRecord = (event: OutgoingEvent) => Promise<void>

/**
 * The limits of a bulk publish. Its events may become one record batch, and Kafka limits the size of a batch (`max.message.bytes`, 256 KiB,
 * topic-settings.ts).
 */
const limits = { maxItems: 500, maxBytes: 192 * 1024, maxWaiting: 10_000 }
/** The number of concurrent bulk publishes to a topic. Events with the same key keep their order. */
const maxInFlight = 2

/**
 * Returns a publisher whose callers share bulk publishes. Events with the same key are published in the order of the calls; if one fails, so do those that
 * wait behind it. If publishing to one topic hangs, other topics are not delayed.
 * @param watchOf returns the observer of a topic's batches
 * @param limitOf returns the size limit that a topic has. By default, only the limit that it should have applies
 */
export function createPublisher(
  sidecar: Sidecar,
  watchOf?: (topic: string) => QueueWatch,
  limitOf: TopicLimit = async () => undefined,
): PublishRecord {
  const queues = new Map<string, PublishRecord>()
  const open = (topic: string): PublishRecord => {
    const flush = async (events: OutgoingEvent[]) => {
      // After a failure, each event of a batch is published alone.
      const alone = events.length === 1 ? events[0] : undefined
      if (alone && sizeOf(alone) > limits.maxBytes) requireSize(alone)
      await sidecar.publish(topic, events).catch(async (error: unknown) => {
        if (alone) await requireLimit(alone, limitOf)
        throw error
      })
      return events.map(() => ({ ok: true as const, value: undefined }))
    }
    const queue = createBatcher<OutgoingEvent, void>({
      flush,
      isRefusal,
      sizeOf,
      keyOf: ({ key }) => key,
      failsByKey: true,
      ...limits,
      maxInFlight,
      minIntervalMs: sidecar.writeIntervalMs,
      watch: watchOf?.(topic),
    })
    queues.set(topic, queue)
    return queue
  }
  return (event) => (queues.get(event.topic) ?? open(event.topic))(event)
}

/** Returns the size of a record in bytes. The key is counted twice, because it is also sent as a header. */
function sizeOf({ value, key = '', headers }: OutgoingEvent): number {
  let bytes = value.byteLength + 2 * Buffer.byteLength(key)
  for (const [name, text] of Object.entries(headers)) bytes += Buffer.byteLength(name) + Buffer.byteLength(text)
  return bytes
}

/**
 * Returns the record of an envelope, with the service's signature. The record of a reaction also has the time at which the event's cause arrived.
 * @param trace the record's headers of the trace
 * @throws {Error} if publishers.json does not list this event of the service
 */
export function recordOf(
  topic: string,
  key: string | undefined,
  envelope: Envelope,
  trust: Pick<Trust, 'sign'>,
  trace: TraceHeaders = {},
): OutgoingEvent {
  const value = Buffer.from(JSON.stringify(envelope))
  const signature = trust.sign(topic, envelope, value)
  const arrival = handled()?.arrivedAt
  return {
    topic,
    key,
    value,
    headers: {
      ...trace,
      ...(signature && { [signatureHeader]: signature }),
      ...(arrival && { [causedAt]: String(arrival) }),
    },
  }
}
