import { deadLetterTopic, deterministicId } from '@orderflow/envelope-schema'
import type { OutgoingEvent } from '../sidecar/sidecar.ts'
import type { Delivery } from './delivery.ts'
import type { Fault } from './fault.ts'
import { type Place, placeText } from './place.ts'
import { letterHeaders } from './record-headers.ts'

/** Kafka refuses a record above its topic's limit; a detail is for reading, so a few kilobytes do. */
const maxDetailLength = 4_000

/** The id of all that is said of one event by one app, however often it is delivered, dead-lettered and resent. */
export function deadLetterId(app: string, { topic, partition, offset }: Place): string {
  return deterministicId('dead-letter', app, topic, String(partition), offset)
}

/**
 * The dead letter of one delivery for one app: the original bytes and key on `<topic>.dead`, and the story in
 * headers. Its id derives from app and origin, so that a redelivered fault counts once, and a resent one with it.
 */
export function deadLetterOf(delivery: Delivery, fault: Fault, app: string, now: Date): OutgoingEvent {
  const { topic, partition, offset } = delivery.origin
  const headers = {
    [letterHeaders.id]: deadLetterId(app, delivery.origin),
    [letterHeaders.reason]: fault.code,
    [letterHeaders.detail]: fault.detail.slice(0, maxDetailLength).toWellFormed(),
    [letterHeaders.app]: app,
    [letterHeaders.topic]: topic,
    [letterHeaders.partition]: String(partition),
    [letterHeaders.offset]: offset,
    [letterHeaders.time]: now.toISOString(),
    ...(delivery.origin !== delivery.place && { [letterHeaders.resent]: placeText(delivery.place) }),
    ...(delivery.traceparent && { traceparent: delivery.traceparent }),
    // A binary key cannot be sent back as text, so it stays readable here, as it was delivered (URL-escaped).
    ...(delivery.key === undefined && delivery.escapedKey && { [letterHeaders.key]: delivery.escapedKey }),
  }
  return { topic: deadLetterTopic(topic), key: delivery.key, value: delivery.value, headers }
}
