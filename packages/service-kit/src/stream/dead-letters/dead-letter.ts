import { createHash } from 'node:crypto'
import { deadLetterTopic, deterministicId } from '@orderflow/envelope'
import { positionText, type RecordPosition } from '@orderflow/kafka-log'
import type { OutgoingEvent } from '../../sidecar/sidecar.ts'
import { signatureHeader } from '../../trust/trust.ts'
import { type Delivery, deadLetterHeaders, keyBytes, recordIdOf } from '../log/record.ts'
import type { Fault } from './fault.ts'

const maxDetailLength = 4_000
const minimalDetailLength = 500

/**
 * Returns the id of a dead letter. All dead letters of an app about the same record have the same id.
 * @param record the record's id; if it is unknown, as in `lastResortDeadLetter`, the result derives from the position
 */
export function deadLetterId(app: string, { topic, partition, offset }: RecordPosition, record?: string): string {
  if (record !== undefined) return deterministicId('dead-letter', app, topic, record)
  return deterministicId('dead-letter', app, topic, String(partition), offset)
}

/**
 * Returns the dead letter of one delivery for one app: the original bytes and key on `<topic>.dead`, with the fault in headers.
 *
 * A record of 256 KiB makes a dead letter below 800 KiB; the limit is 1 MiB (topic-settings.ts). A binary key grows to three characters for each
 * byte, and the added headers take less than 16 KiB.
 */
export function deadLetterOf(delivery: Delivery, fault: Fault, app: string, now: Date): OutgoingEvent {
  const { key, escapedKey, traceparent, tracestate, signature, value } = delivery
  const headers = {
    ...storyOf(delivery, fault, app, now, maxDetailLength, recordIdsIn(delivery)),
    ...(traceparent && { traceparent }),
    ...(tracestate && { tracestate }),
    ...(signature && { [signatureHeader]: signature }),
    // A binary key cannot be sent through the sidecar, so this header has the key as delivered (URL-escaped).
    ...(key === undefined && escapedKey && { [deadLetterHeaders.key]: escapedKey }),
  }
  return { topic: deadLetterTopic(delivery.origin.topic), key, value, headers }
}

/**
 * Returns a dead letter of less than 4 KiB, for a dead-letter topic that refuses the complete dead letter. It lacks the parts that a publisher can
 * make large. The event remains in the log at its position, and the digest identifies the event.
 */
export function minimalDeadLetter(delivery: Delivery, fault: Fault, app: string, now: Date): OutgoingEvent {
  const headers = {
    ...storyOf(delivery, fault, app, now, minimalDetailLength, recordIdsIn(delivery)),
    [deadLetterHeaders.cut]: digestOf(delivery.value),
  }
  return { topic: deadLetterTopic(delivery.origin.topic), key: undefined, value: Buffer.alloc(0), headers }
}

export const unread = 'unread'

/** Returns the dead letter for a record on which our own code fails. It has only the position and a reason. */
export function lastResortDeadLetter(position: RecordPosition, reason: string, app: string, now: Date): OutgoingEvent {
  const detail = `the code around the handler failed twice on this record; the log of ${app} has the error`
  const delivery = { origin: position, position }
  const headers = {
    ...storyOf(delivery, { code: reason, detail }, app, now, minimalDetailLength),
    [deadLetterHeaders.cut]: unread,
  }
  return { topic: deadLetterTopic(position.topic), key: undefined, value: Buffer.alloc(0), headers }
}

export const digestOf = (value: Uint8Array): string => createHash('sha256').update(value).digest('hex')

function storyOf(
  { origin, position }: Pick<Delivery, 'origin' | 'position'>,
  { code, detail, isStored }: Fault,
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
    ...(isStored && { [deadLetterHeaders.stored]: 'true' }),
    ...(record && { [deadLetterHeaders.record]: record, [deadLetterHeaders.arrived]: String(arrivedAt) }),
    ...(origin !== position && { [deadLetterHeaders.replayed]: positionText(position) }),
  }
}

/** The ids of a failed record. Empty if only the record's position is known. */
interface RecordIds {
  first?: string | undefined
  /** The failed record's id, and its time of arrival in milliseconds since 1970. */
  record?: string | undefined
  arrivedAt?: number
}

function recordIdsIn({ origin, position, replayedRecord, value, escapedKey, arrivedAt }: Delivery): RecordIds {
  const record = recordIdOf({ value, key: keyBytes(escapedKey), arrivedAt })
  return { first: replayedRecord ?? (origin === position ? record : undefined), record, arrivedAt }
}
