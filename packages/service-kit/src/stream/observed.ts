import { type Envelope, mayShow, type ReceivedEnvelope, typeOf } from '@orderflow/envelope'
import {
  type Attributes,
  type Handling,
  newTraceId,
  noteIds,
  type Span,
  spanContextIn,
  type Tracing,
  traceIdOf,
} from '../telemetry/context.ts'
import type { Outcome, TopicMetrics } from '../telemetry/metrics.ts'
import type { BulkEntry, Delivery, RecordPosition } from './record.ts'

export interface Observed {
  topic: string
  group: string
  /** `Name@Version` of the events with a handler. */
  types: ReadonlySet<string>
  metrics: Pick<TopicMetrics, 'delivered'>
  /** Undefined if traces are off. */
  tracing: Tracing | undefined
}

export interface ObservedDelivery {
  /** Sets the ids of the current event, and begins its span if its trace is recorded. */
  read(handling: Handling, delivery: Delivery, envelope: Envelope): void
  /** @param error the error of an event that will be delivered again */
  end(outcomes: readonly Outcome[], error: string | undefined): void
}

/**
 * Observes a bulk delivery. Each recorded event has a span in the trace of its TraceId, with a link to the delivery's span. Dapr 1.18 makes no span
 * for raw payloads.
 */
export function observeDelivery(
  entries: readonly BulkEntry[],
  now: Date,
  { topic, group, types, metrics, tracing }: Observed,
): ObservedDelivery {
  const count = metrics.delivered(entries.length, oldestWait(entries, now))
  let span: Span | undefined

  /** Begins an event's span below the header's span. A span of another trace than the TraceId's becomes a link. */
  function begin(tracing: Tracing, { traceparent, position }: Delivery, envelope: Envelope): Span | undefined {
    const traceId = traceIdOf(envelope.TraceId)
    const publisher = traceparent === undefined ? undefined : spanContextIn(traceparent)
    const parent = publisher?.traceId === traceId ? publisher : undefined
    if (traceId === undefined || !tracing.isSampled(traceId, parent)) return undefined
    span ??= beginWhole(tracing)
    return tracing.begin(`process ${topic}`, traceId, parent, {
      kind: 'consumer',
      attributes: processAttributes(envelope, position, group),
      links: publisher && !parent ? [span.context, publisher] : [span.context],
    })
  }

  function beginWhole(tracing: Tracing): Span {
    return tracing.begin(`receive ${topic}`, newTraceId(), undefined, {
      kind: 'consumer',
      attributes: {
        ...topicAttributes('receive', topic),
        'messaging.consumer.group.name': group,
        'messaging.batch.message_count': entries.length,
      },
    })
  }

  return {
    read(handling, delivery, envelope) {
      noteIds(envelope)
      handling.span = tracing && begin(tracing, delivery, envelope)
      if (!handling.span) return
      const type = typeOf(envelope)
      if (types.has(type)) handling.span.set({ 'orderflow.event.type': type })
    },
    end(outcomes, error) {
      count(outcomes)
      span?.end(error)
    },
  }
}

/** Returns the time of the oldest entry in the log, in milliseconds; 0 if the broker's time is missing. */
function oldestWait(entries: readonly BulkEntry[], now: Date): number {
  let oldest = now.getTime()
  for (const { metadata } of entries) {
    const arrivedAt = Number(metadata.__timestamp)
    if (arrivedAt > 0 && arrivedAt < oldest) oldest = arrivedAt
  }
  return now.getTime() - oldest
}

// Names of OpenTelemetry's semantic conventions: https://opentelemetry.io/docs/specs/semconv/messaging/kafka/.

type Operation = 'send' | 'receive' | 'process'

export function topicAttributes(operation: Operation, topic: string): Attributes {
  return {
    'messaging.system': 'kafka',
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
    'messaging.destination.name': topic,
  }
}

export function sendAttributes(topic: string, key: string | undefined, envelope: ReceivedEnvelope): Attributes {
  return {
    ...topicAttributes('send', topic),
    ...eventAttributes(envelope),
    'orderflow.event.type': typeOf(envelope),
    // A publisher may use personal data as a key.
    'messaging.kafka.message.key': key !== undefined && mayShow('Id', key) ? key : undefined,
  }
}

/** Returns the attributes of a delivered event. Its publisher chooses the name, so that is left out. */
function processAttributes(
  envelope: Envelope,
  { topic, partition, offset }: RecordPosition,
  group: string,
): Attributes {
  return {
    ...topicAttributes('process', topic),
    ...eventAttributes(envelope),
    'messaging.consumer.group.name': group,
    'messaging.destination.partition.id': String(partition),
    'messaging.kafka.offset': Number(offset),
  }
}

function eventAttributes({ Id, CorrelationId }: ReceivedEnvelope): Attributes {
  return { 'messaging.message.id': Id, 'messaging.message.conversation_id': CorrelationId }
}
