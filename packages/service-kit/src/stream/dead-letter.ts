import { createHash } from 'node:crypto'
import { deadLetterTopic, deterministicId } from '@orderflow/envelope'
import type { OutgoingEvent } from '../sidecar/sidecar.ts'
import { signatureHeader } from '../trust/trust.ts'
import type { Fault } from './fault.ts'
import { type Delivery, deadLetterHeaders, keyBytes, positionText, type RecordPosition, recordIdOf } from './record.ts'

/** Characters. A person reads a detail, so a few kilobytes are enough. */
const maxDetailLength = 4_000
const minimalDetailLength = 500

/**
 * Returns the id of an app's dead letters of one record, however often it is delivered and dead-lettered.
 * @param record the record's id; without it the id derives from its position, as for dead letters of 0.1.0
 */
export function deadLetterId(app: string, { topic, partition, offset }: RecordPosition, record?: string): string {
  if (record !== undefined) return deterministicId('dead-letter', app, topic, record)
  return deterministicId('dead-letter', app, topic, String(partition), offset)
}

/**
 * Returns the dead letter of one delivery for one app: the original bytes and key on `<topic>.dead`, and what went wrong in
 * headers. Its id derives from app and record, so that a fault counts once, also if it is delivered or replayed again.
 *
 * A record of at most 256 KiB makes a dead letter below 800 KiB, where 1 MiB is allowed (topic-settings.ts): of its key, value and
 * headers only a binary key grows, three characters for a byte, and what is added is less than 16 KiB. A topic that was made with
 * another limit may still refuse it.
 */
export function deadLetterOf(delivery: Delivery, fault: Fault, app: string, now: Date): OutgoingEvent {
  const { key, escapedKey, traceparent, signature, value } = delivery
  const headers = {
    ...storyOf(delivery, fault, app, now, maxDetailLength, recordIdsIn(delivery)),
    ...(traceparent && { traceparent }),
    ...(signature && { [signatureHeader]: signature }),
    // A binary key cannot be sent back as text, so it stays readable here, as it was delivered (URL-escaped).
    ...(key === undefined && escapedKey && { [deadLetterHeaders.key]: escapedKey }),
  }
  return { topic: deadLetterTopic(delivery.origin.topic), key, value, headers }
}

/**
 * Returns the dead letter without the parts that a publisher can make large, for a topic that refuses the whole one: always below 4 KiB (an
 * app's name has at most 200 characters, as AppName). The event stays where it failed, for as long as the log holds it, and is recognized by
 * its digest.
 */
export function minimalDeadLetter(delivery: Delivery, fault: Fault, app: string, now: Date): OutgoingEvent {
  const headers = {
    ...storyOf(delivery, fault, app, now, minimalDetailLength, recordIdsIn(delivery)),
    [deadLetterHeaders.cut]: digestOf(delivery.value),
  }
  return { topic: deadLetterTopic(delivery.origin.topic), key: undefined, value: Buffer.alloc(0), headers }
}

/** The value of `deadletter-cut` on a dead letter whose record was not read. */
export const unread = 'unread'

/**
 * Returns the dead letter of last resort, for a record that our own code fails on: made from its position and a reason alone. The event stays
 * where it failed, for as long as the log holds it.
 */
export function lastResortDeadLetter(position: RecordPosition, reason: string, app: string, now: Date): OutgoingEvent {
  const detail = `the code around the handler failed on this record, twice; the log of ${app} has the error`
  const delivery = { origin: position, position }
  const headers = {
    ...storyOf(delivery, { code: reason, detail }, app, now, minimalDetailLength),
    [deadLetterHeaders.cut]: unread,
  }
  return { topic: deadLetterTopic(position.topic), key: undefined, value: Buffer.alloc(0), headers }
}

/** Returns the digest that identifies the event of a dead letter without content: the SHA-256 of its bytes, in hex. */
export function digestOf(value: Uint8Array): string {
  return createHash('sha256').update(value).digest('hex')
}

function storyOf(
  { origin, position }: Pick<Delivery, 'origin' | 'position'>,
  { code, detail }: Fault,
  app: string,
  now: Date,
  maxLength: number,
  { first, record, arrivedAt }: RecordIds = {},
) {
  return {
    [deadLetterHeaders.id]: deadLetterId(app, origin, first),
    [deadLetterHeaders.reason]: code,
    [deadLetterHeaders.detail]: detail.slice(0, maxLength).toWellFormed(),
    [deadLetterHeaders.app]: app,
    [deadLetterHeaders.topic]: origin.topic,
    [deadLetterHeaders.partition]: String(origin.partition),
    [deadLetterHeaders.offset]: origin.offset,
    [deadLetterHeaders.time]: now.toISOString(),
    ...(record && { [deadLetterHeaders.record]: record, [deadLetterHeaders.arrived]: String(arrivedAt) }),
    ...(origin !== position && { [deadLetterHeaders.replayed]: positionText(position) }),
  }
}

/** The records that a dead letter is about; none if it was made from a position alone. */
interface RecordIds {
  /** Id of the record that failed first, as far as it is known. */
  first?: string | undefined
  /** Id of the record that failed, and when it arrived: milliseconds since 1970. */
  record?: string | undefined
  arrivedAt?: number
}

function recordIdsIn({ origin, position, replayedRecord, value, escapedKey, arrivedAt }: Delivery): RecordIds {
  const record = recordIdOf({ value, key: keyBytes(escapedKey), arrivedAt })
  return { first: replayedRecord ?? (origin === position ? record : undefined), record, arrivedAt }
}
