import type { Envelope, ReceivedEnvelope } from '@orderflow/envelope-schema'
import { ended, handled, noteIds, within } from '../telemetry/handling.ts'
import { placeIn, type Span, type Tracing, traceIdOf, traceparentOf } from '../telemetry/traces/trace.ts'
import type { Trust } from '../trust/trust.ts'
import { sendAttributes } from './messaging.ts'
import { type PublishRecord, recordOf } from './publisher.ts'

/** Publishes an envelope to a topic under a partition key. Resolves and throws as `PublishRecord` does. */
export type Publish = (topic: string, key: string, envelope: Envelope) => Promise<void>

/** Somebody else's envelope, and the bytes that it came as. */
export interface Forwarded {
  envelope: ReceivedEnvelope
  value: Uint8Array
}

/** Hands an envelope on to a topic under a partition key, as it came and unsigned. Resolves and throws as `PublishRecord` does. */
export type Forward = (topic: string, key: string | undefined, forwarded: Forwarded) => Promise<void>

/** How a service hands on what others say: in the trace that the envelope names, or else in that of the request that brought it. */
export function createForward(publish: PublishRecord, tracing: Tracing | undefined): Forward {
  return (topic, key, { envelope, value }) =>
    inTrace(topic, key, envelope, tracing, (traceparent) =>
      publish({ topic, key, value, headers: traceparent === undefined ? {} : { traceparent } }),
    )
}

/** How a service publishes: each event signed, and in the trace that its TraceId names. */
export function createPublish(
  publish: PublishRecord,
  trust: Pick<Trust, 'sign'>,
  tracing: Tracing | undefined,
): Publish {
  return async (topic, key, envelope) => {
    noteIds(envelope)
    await inTrace(topic, key, envelope, tracing, (traceparent) =>
      publish(recordOf(topic, key, envelope, trust, traceparent)),
    )
  }
}

/** Publishes an event in its trace: by a span where that is recorded, else by what others before said of it. */
async function inTrace(
  topic: string,
  key: string | undefined,
  envelope: ReceivedEnvelope,
  tracing: Tracing | undefined,
  publish: (traceparent: string | undefined) => Promise<void>,
): Promise<void> {
  const span = tracing && spanOf(topic, key, envelope, tracing)
  if (!span) return publish(handedOn(envelope, tracing))
  await ended(span, () => within({ ...handled(), document: undefined, span }, () => publish(traceparentOf(span.place))))
}

/**
 * The span by which an event is published, where its trace is recorded. That is the trace of what is handled; but for what was made
 * long ago, such as the order of an earlier request with the same Idempotency-Key.
 */
function spanOf(
  topic: string,
  key: string | undefined,
  envelope: ReceivedEnvelope,
  tracing: Tracing,
): Span | undefined {
  const { span: outer, traceId: handledTrace } = handled() ?? {}
  // One without a TraceId is given one by its place in the log: what can be told is who brought it.
  const isSame = envelope.TraceId === undefined || handledTrace === envelope.TraceId
  const name = `send ${topic}`
  const options = () => ({ kind: 'producer', attributes: sendAttributes(topic, key, envelope) }) as const
  if (isSame) return outer?.child(name, options())
  const traceId = traceIdOf(envelope.TraceId ?? '')
  if (traceId === undefined || !tracing.isSampled(traceId, undefined)) return undefined
  return tracing.begin(name, traceId, undefined, { ...options(), links: outer ? [outer.place] : [] })
}

/**
 * What a record says of its trace where no span is made: what others before said of it, with what became of it here. If they said nothing
 * then nor do we, for whoever asks the trace's id decides alike; a header on each event would cost more than all that is recorded. A
 * service that records nothing hands the header on as it came (https://www.w3.org/TR/trace-context/).
 */
function handedOn({ TraceId }: ReceivedEnvelope, tracing: Tracing | undefined): string | undefined {
  const { traceparent } = handled() ?? {}
  if (traceparent === undefined) return undefined
  const before = placeIn(traceparent)
  if (!before || (TraceId !== undefined && before.traceId !== traceIdOf(TraceId))) return undefined
  return tracing ? traceparentOf({ ...before, isSampled: false }) : traceparent
}
