import { type Envelope, mayShow, type ReceivedEnvelope, typeOf } from '@orderflow/envelope'
import type { RecordPosition } from '@orderflow/kafka-log'
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
import type { BulkEntry, Delivery } from './log/record.ts'

export interface Observed {
  topic: string
  group: string
  /** The `Name@Version` of each event that has a handler. */
  types: ReadonlySet<string>
  metrics: Pick<TopicMetrics, 'delivery'>
  tracing: Tracing | undefined
}

export type ObservedDelivery = ReturnType<typeof observeDelivery>

/** Observes a bulk delivery. Each event whose trace is recorded gets a span in the trace of its TraceId, with a link to the delivery's span. */
export function observeDelivery(now: Date, { topic, group, types, metrics, tracing }: Observed) {
  const delivery = metrics.delivery()
  let count = 0
  /** The time at which the oldest entry arrived in the log. It is ignored if the broker's time is missing. */
  let oldest = now.getTime()
  let span: Span | undefined

  /**
   * Begins an event's span as a child of the span in the record's header. If the header's span belongs to a different trace, the new span only links
   * to it.
   */
  function begin(tracing: Tracing, { traceparent, position }: Delivery, envelope: Envelope): Span | undefined {
    const traceId = traceIdOf(envelope.TraceId)
    const publisher = traceparent === undefined ? undefined : spanContextIn(traceparent)
    const parent = publisher?.traceId === traceId ? publisher : undefined
    if (traceId === undefined || !tracing.isSampled(traceId, parent)) return undefined
    const attributes = { ...topicAttributes('receive', topic), 'messaging.consumer.group.name': group }
    span ??= tracing.begin(`receive ${topic}`, newTraceId(), undefined, { kind: 'consumer', attributes })
    return tracing.begin(`process ${topic}`, traceId, parent, {
      kind: 'consumer',
      attributes: processAttributes(envelope, position, group),
      links: publisher && !parent ? [span.context, publisher] : [span.context],
    })
  }

  return {
    /** Counts the entries of the next part. */
    add(part: readonly BulkEntry[]): void {
      count += part.length
      delivery.add(part.length)
      for (const { metadata } of part) {
        const arrivedAt = Number(metadata.__timestamp)
        if (arrivedAt > 0 && arrivedAt < oldest) oldest = arrivedAt
      }
    },
    /** Sets the ids of the current event. If its trace is recorded, begins the event's span. */
    read(handling: Handling, delivery: Delivery, envelope: Envelope): void {
      noteIds(envelope)
      handling.span = tracing && begin(tracing, delivery, envelope)
      if (!handling.span) return
      const type = typeOf(envelope)
      if (types.has(type)) handling.span.set({ 'orderflow.event.type': type })
    },
    /** @param error the error of an event that will be delivered again */
    end(outcomes: readonly Outcome[], error: string | undefined): void {
      delivery.end(outcomes, now.getTime() - oldest)
      span?.set({ 'messaging.batch.message_count': count })
      span?.end(error)
    },
  }
}

// The names of attributes follow OpenTelemetry's semantic conventions: https://opentelemetry.io/docs/specs/semconv/messaging/kafka/.

export function topicAttributes(operation: 'send' | 'receive' | 'process', topic: string): Attributes {
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
    // The key is recorded only if it is an id, because a publisher may use personal data as a key.
    'messaging.kafka.message.key': key !== undefined && mayShow('Id', key) ? key : undefined,
  }
}

/** Returns the attributes of a delivered event. The event's name is left out, because the publisher chooses it. */
function processAttributes(envelope: Envelope, { topic, partition, offset }: RecordPosition, group: string) {
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
