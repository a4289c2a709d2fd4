import { isGuid, type RecordContent, recordId } from '@orderflow/envelope'
import { isKnownTime, parsePosition, precedes, type RecordPosition } from '@orderflow/kafka-log'
import { traceHeadersIn } from '../../telemetry/context.ts'
import { type Evidence, signatureHeader, signatureIn } from '../../trust/trust.ts'

// The following record headers never change their names, because logs are kept for ever.

/** The header with the origin of a replayed record, such as `a-topic/2/17`. */
export const replayedFrom = 'replayed-from'

/** The header with the id of the first failed record (`recordIdOf`). Any publisher can set it, so it may be wrong. */
export const replayedRecord = 'replayed-record'

/**
 * The header with the time at which the cause of a reaction arrived, by the broker's clock, in milliseconds since 1970. Outside publishers may write
 * any value, so only metrics use it.
 */
export const causedAt = 'caused-at'

export const deadLetterHeaders = {
  id: 'deadletter-id',
  reason: 'deadletter-reason',
  detail: 'deadletter-detail',
  app: 'deadletter-app',
  topic: 'deadletter-topic',
  partition: 'deadletter-partition',
  offset: 'deadletter-offset',
  time: 'deadletter-time',
  /** The position of the failed record, as text. Only set if a replay published the failed record. */
  replayed: 'deadletter-replay',
  /** A binary key in the form in which the sidecar delivered it: URL-escaped (Go's url.QueryEscape). */
  key: 'deadletter-key',
  /** The failed record's id, and its time of arrival in milliseconds since 1970. A dead letter with only a position and a reason has neither header. */
  record: 'deadletter-record',
  arrived: 'deadletter-arrived',
  /**
   * The SHA-256 of the event's bytes in hex, or `unread` if the service could not read the event. Only a dead letter without its event has this
   * header.
   */
  cut: 'deadletter-cut',
  /** `true` if the store already has the event's effects, because an earlier process of the service handled the record. */
  stored: 'deadletter-stored',
} as const

/** The headers of a note on `<topic>.dead`. They name the failed record and the new record. */
export const noteHeaders = {
  of: 'replay-of',
  ofRecord: 'replay-of-record',
  as: 'replayed-as',
  asRecord: 'replayed-as-record',
  edited: 'replay-edited',
} as const

/**
 * The headers of an acceptance on `<topic>.dead`. They name a service, and a record that it handled after it had written a dead letter of the record. The
 * record's id is left out if it is unknown.
 */
export const acceptanceHeaders = {
  app: 'accepted-by',
  position: 'accepted-position',
  record: 'accepted-record',
} as const

/**
 * Returns the origin of an event. It is the position in the header `replayed-from`, which any publisher can set. A replay publishes to the topic and
 * partition of the failed record. So the header is valid only if it names an earlier position in the record's own partition.
 * A forged header cannot change the list of dead letters, because the list joins records only by notes (operations/dead-letters/entries.ts).
 */
export function originOf(position: RecordPosition, header: string | undefined): RecordPosition {
  const origin = parsePosition(header)
  return origin && precedes(origin, position) ? origin : position
}

/**
 * Returns the id of a record; undefined if the record's time is unknown. The sidecar delivers every negative time as the same one
 * (sarama 1.48), so it cannot be part of an id.
 */
export function recordIdOf({ arrivedAt, ...content }: RecordContent & { arrivedAt: number }): string | undefined {
  return isKnownTime(arrivedAt) ? recordId({ ...content, timestamp: arrivedAt }) : undefined
}

/** Returns the bytes of a key that the sidecar delivered URL-escaped (Go's url.QueryEscape). */
export function keyBytes(escaped: string | undefined): Buffer | undefined {
  if (!escaped) return undefined
  const character = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))
  return Buffer.from(escaped.replaceAll('+', ' ').replace(/%([0-9a-f]{2})/gi, character), 'latin1')
}

export interface Delivery extends Evidence {
  entryId: string
  position: RecordPosition
  /** The time of arrival or the publisher's time, depending on the topic's settings, in milliseconds since 1970. */
  arrivedAt: number
  /** The origin of the event. It differs from `position` if the record is a replay. */
  origin: RecordPosition
  /** The id of the first failed record, as the header `replayed-record` claims. */
  replayedRecord?: string | undefined
  /** The key as text; undefined for a binary key. */
  key: string | undefined
  /** The key as the sidecar delivered it: URL-escaped. */
  escapedKey: string | undefined
  /** The header `traceparent`; undefined if it is invalid. */
  traceparent: string | undefined
  tracestate?: string | undefined
  /** The time when the cause of a reaction arrived, in milliseconds since 1970, as the header `caused-at` claims. */
  causedAt: number | undefined
  /** The value; empty for a tombstone. */
  value: Uint8Array
}

/** An entry of Dapr's raw bulk delivery. */
export interface BulkEntry {
  entryId: string
  metadata: Record<string, string>
  /** The record's value; empty for a tombstone. */
  value: Buffer
}

/** Returns a record's key as the sidecar delivered it; undefined for a record without a key. */
export const keyOf = ({ metadata }: Pick<BulkEntry, 'metadata'>): string | undefined => metadata.__key

/** Returns the position of a delivered record. @throws {Error} if the sidecar does not name the position; even a dead letter is then impossible */
export function positionOf({ metadata }: BulkEntry, topic: string): RecordPosition {
  const { __partition: partition, __offset: offset } = metadata
  if (partition === undefined || offset === undefined)
    throw new Error('the sidecar delivered a record without its partition or offset')
  return { topic, partition: Number(partition), offset }
}

/**
 * Reads one entry of a bulk delivery. Record headers arrive in the metadata, URL-escaped. The sidecar's Kafka component removes headers whose names
 * begin like Dapr's own metadata, `__*` (`excludeHeaderMetaRegex`). So a publisher cannot fake a position.
 */
export function readDelivery(entry: BulkEntry, topic: string): Delivery {
  const { entryId, metadata, value } = entry
  const { __key: escapedKey, __timestamp: arrivedAt } = metadata
  const { traceparent, tracestate } = traceHeadersIn(metadata.traceparent, unescaped(metadata.tracestate))
  const position = positionOf(entry, topic)
  return {
    entryId,
    position,
    origin: originOf(position, unescaped(metadata[replayedFrom])),
    replayedRecord: guidIn(metadata[replayedRecord]),
    key: unescaped(escapedKey),
    escapedKey,
    traceparent,
    tracestate,
    causedAt: momentIn(metadata[causedAt]),
    signature: signatureIn(unescaped(metadata[signatureHeader])),
    arrivedAt: Number(arrivedAt),
    // The sidecar does not report whether the broker set `arrivedAt` (append-times.ts).
    appendedAt: Number.NaN,
    value,
  }
}

export function guidIn(text: string | undefined): string | undefined {
  return isGuid(text) ? text.toLowerCase() : undefined
}

function momentIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{13}$/.test(text) ? Number(text) : undefined
}

/** Returns the text that Dapr's component escaped; undefined if it is missing or not UTF-8. */
function unescaped(escaped: string | undefined): string | undefined {
  if (!escaped) return undefined
  try {
    return decodeURIComponent(escaped.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
