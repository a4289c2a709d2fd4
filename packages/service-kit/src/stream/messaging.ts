import { type Envelope, mayShow, type ReceivedEnvelope, typeOf } from '@orderflow/envelope-schema'
import type { Attributes } from '../telemetry/traces/trace.ts'
import type { Place } from './place.ts'

// Names of OpenTelemetry's semantic conventions: https://opentelemetry.io/docs/specs/semconv/messaging/kafka/.

type Operation = 'send' | 'receive' | 'process'

/** What is done with a topic. */
export function topicAttributes(operation: Operation, topic: string): Attributes {
  return {
    'messaging.system': 'kafka',
    'messaging.operation.name': operation,
    'messaging.operation.type': operation,
    'messaging.destination.name': topic,
  }
}

/** An event on its way out. */
export function sendAttributes(topic: string, key: string | undefined, envelope: ReceivedEnvelope): Attributes {
  return {
    ...topicAttributes('send', topic),
    ...eventAttributes(envelope),
    'orderflow.event.type': typeOf(envelope),
    // A publisher may take persons for keys.
    'messaging.kafka.message.key': key !== undefined && mayShow('Id', key) ? key : undefined,
  }
}

/** An event that came. What it is called is for its publisher to say, and so not told. */
export function processAttributes(envelope: Envelope, { topic, partition, offset }: Place, group: string): Attributes {
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
