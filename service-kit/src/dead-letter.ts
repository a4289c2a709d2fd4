import { deadLetterTopic, deterministicId } from '@orderflow/envelope-schema'
import type { Delivery } from './delivery.ts'
import type { OutgoingEvent } from './sidecar.ts'

/** Why an event can never be handled. `code` is stable and groups dead letters; `detail` tells what to mend. */
export interface Fault {
  code: string
  detail: string
}

/** Kafka refuses a record above its topic's limit; a detail is for reading, so a few kilobytes do. */
const maxDetailLength = 4_000

/**
 * The dead letter of one delivery for one app: the original bytes and key on `<topic>.dead`, and the story in
 * headers. Its id derives from app and origin, so that a redelivered fault counts once.
 */
export function deadLetterOf(delivery: Delivery, fault: Fault, app: string, now: Date): OutgoingEvent {
  const { topic, partition, offset } = delivery.origin
  const headers = {
    'deadletter-id': deterministicId('dead-letter', app, topic, String(partition), offset),
    'deadletter-reason': fault.code,
    'deadletter-detail': fault.detail.slice(0, maxDetailLength).toWellFormed(),
    'deadletter-app': app,
    'deadletter-topic': topic,
    'deadletter-partition': String(partition),
    'deadletter-offset': offset,
    'deadletter-time': now.toISOString(),
    ...(delivery.traceparent && { traceparent: delivery.traceparent }),
    // A binary key cannot be sent back as text, so it stays readable here, as it was delivered (URL-escaped).
    ...(delivery.key === undefined && delivery.escapedKey && { 'deadletter-key': delivery.escapedKey }),
  }
  return { topic: deadLetterTopic(topic), key: delivery.key, value: delivery.value, headers }
}
