import { type IdSource, isGuid, parseMoment, type RecordContent, recordId } from '@orderflow/envelope'
import { spanContextIn } from '../telemetry/context.ts'
import { type Evidence, signatureHeader, signatureIn } from '../trust/trust.ts'

/** Position of a record in the log. The offset is a decimal string, because Kafka's offsets have 64 bits. */
export interface RecordPosition {
  topic: string
  partition: number
  offset: string
}

/** Returns a position as text, such as `a-topic/2/17`. */
export const positionText = ({ topic, partition, offset }: RecordPosition): string => `${topic}/${partition}/${offset}`

const form = /^(?<topic>[a-zA-Z0-9._-]{1,249})\/(?<partition>0|[1-9]\d{0,8})\/(?<offset>0|[1-9]\d{0,18})$/

/** The largest offset: a signed integer of 64 bits (Kafka protocol, INT64). */
const lastOffset = 2n ** 63n - 1n

/** Returns the position that a text names; undefined if it names none. */
export function parsePosition(text: string | undefined): RecordPosition | undefined {
  const named = form.exec(text ?? '')?.groups as Record<keyof RecordPosition, string> | undefined
  if (!named || BigInt(named.offset) > lastOffset) return undefined
  return { topic: named.topic, partition: Number(named.partition), offset: named.offset }
}

/** Returns whether both positions are in one partition and the first is the older. Records of different partitions have no order. */
export function precedes(first: RecordPosition, second: RecordPosition): boolean {
  return (
    first.topic === second.topic && first.partition === second.partition && BigInt(first.offset) < BigInt(second.offset)
  )
}

// Names of record headers. Logs are kept for ever, so these names never change.

/** Header of a replayed record: the position where its event first was, as text. See `originOf`. */
export const replayedFrom = 'replayed-from'

/** Header of a replayed record: the id of the record that failed first (`recordIdOf`). It is a claim, like `replayed-from`. */
export const replayedRecord = 'replayed-record'

/**
 * Header of a reaction: when its cause reached the log, by the broker's clock, in milliseconds since 1970. Only metrics use it: on a topic
 * that outside publishers write, it may have any value.
 */
export const causedAt = 'caused-at'

/** Headers of a dead letter (docs/operations.md). */
export const deadLetterHeaders = {
  id: 'deadletter-id',
  reason: 'deadletter-reason',
  detail: 'deadletter-detail',
  app: 'deadletter-app',
  topic: 'deadletter-topic',
  partition: 'deadletter-partition',
  offset: 'deadletter-offset',
  time: 'deadletter-time',
  /** Position of the record that failed, as text, if it was a replayed one. */
  replayed: 'deadletter-replay',
  /** A key that is not text, as it was delivered: URL-escaped (Go's url.QueryEscape). */
  key: 'deadletter-key',
  /** Id and time (milliseconds since 1970) of the record that failed. Last-resort dead letters and those of 0.1.0 have neither. */
  record: 'deadletter-record',
  arrived: 'deadletter-arrived',
  /** In a dead letter without its event: the SHA-256 of the event's bytes in hex, or `unread` if even these were not read. */
  cut: 'deadletter-cut',
} as const

/** Headers of a note on `<topic>.dead` that an event was replayed: position and id of the record that failed, and of the new one. */
export const noteHeaders = {
  of: 'replay-of',
  ofRecord: 'replay-of-record',
  as: 'replayed-as',
  asRecord: 'replayed-as-record',
  edited: 'replay-edited',
} as const

/**
 * Returns the position where an event first was, by the header `replayed-from`, which any publisher can set. A replay publishes an event to
 * its own topic and partition, and a log only grows. So the header is valid if it names an earlier position in the record's own partition;
 * otherwise it is ignored. A publisher can claim neither a partition that does not exist nor a future position.
 *
 * A forger can name an earlier event. Only events of 0.1.0 have ids that derive from a position (ADR 32). A faulty record's
 * dead letter then has the other event's id. But it also names its own record, and the list joins only what a note on the dead-letter
 * topic joins, where publishers cannot write (operations/dead-letters/entries.ts).
 */
export function originOf(position: RecordPosition, header: string | undefined): RecordPosition {
  const origin = parsePosition(header)
  return origin && precedes(origin, position) ? origin : position
}

/**
 * Returns the moment that a setting names (`Stream__PositionIdsBefore`), in milliseconds since 1970: events that reached the log before it
 * keep the ids that 0.1.0 derived from their positions. An empty setting means that the log has no such events.
 */
export function momentOf(positionIdsBefore: string): number {
  return positionIdsBefore === '' ? Number.NEGATIVE_INFINITY : Number(parseMoment(positionIdsBefore))
}

/**
 * Returns what the missing ids of a record's envelope derive from (ADR 32).
 * @param positionIdsBefore see `momentOf`
 */
export function idSourceOf(
  { value, key, arrivedAt, origin }: RecordContent & { arrivedAt: number; origin: RecordPosition },
  positionIdsBefore = Number.NEGATIVE_INFINITY,
): IdSource {
  return arrivedAt < positionIdsBefore ? origin : { value, key }
}

/** Returns the id of a record; undefined if its time is unknown. */
export function recordIdOf({ arrivedAt, ...content }: RecordContent & { arrivedAt: number }): string | undefined {
  return Number.isSafeInteger(arrivedAt) ? recordId({ ...content, timestamp: arrivedAt }) : undefined
}

/** Returns the bytes of a key that the sidecar delivered, URL-escaped by Go's url.QueryEscape. */
export function keyBytes(escaped: string | undefined): Buffer | undefined {
  if (!escaped) return undefined
  const character = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))
  return Buffer.from(escaped.replaceAll('+', ' ').replace(/%([0-9a-f]{2})/gi, character), 'latin1')
}

/** One Kafka record as the sidecar delivered it. */
export interface Delivery extends Evidence {
  entryId: string
  position: RecordPosition
  /** When it reached the log, or what its publisher says, as its topic is set: milliseconds since 1970. */
  arrivedAt: number
  /** Position where the event first was. It differs from `position` if the record is a replayed dead letter. */
  origin: RecordPosition
  /** Id of the record that failed first, as a replayed record claims. */
  replayedRecord?: string | undefined
  /** The partition key, if it is text. */
  key: string | undefined
  /** The key as it was delivered, URL-escaped. */
  escapedKey: string | undefined
  /** Only a valid one. */
  traceparent: string | undefined
  /** When the cause of a reaction reached the log, in milliseconds since 1970; see the header `causedAt`. */
  causedAt: number | undefined
  /** Empty for a tombstone. */
  value: Uint8Array
}

/** An entry of Dapr's raw bulk delivery: `event` is the record's value in base64, or null for a tombstone. */
export interface BulkEntry {
  entryId: string
  event: string | null
  metadata: Record<string, string>
}

/**
 * Returns the position of the record in an entry of a bulk delivery.
 * @throws {Error} the sidecar does not name it: then not even a dead letter can be written about the record
 */
export function positionOf({ metadata }: BulkEntry, topic: string): RecordPosition {
  const { __partition: partition, __offset: offset } = metadata
  if (partition === undefined || offset === undefined) throw new Error('a delivery does not say where it comes from')
  return { topic, partition: Number(partition), offset }
}

/**
 * Reads one entry of a bulk delivery. Record headers arrive among the metadata, with URL-escaped values. The component
 * removes headers with the names of Dapr's own `__*` (`excludeHeaderMetaRegex`), so a publisher cannot pretend another position.
 */
export function readDelivery(entry: BulkEntry, topic: string): Delivery {
  const { entryId, event, metadata } = entry
  const { __key: escapedKey, __timestamp: arrivedAt, traceparent } = metadata
  const position = positionOf(entry, topic)
  return {
    entryId,
    position,
    origin: originOf(position, unescaped(metadata[replayedFrom])),
    replayedRecord: guidIn(metadata[replayedRecord]),
    key: unescaped(escapedKey),
    escapedKey,
    traceparent: spanContextIn(traceparent) && traceparent,
    causedAt: momentIn(metadata[causedAt]),
    signature: signatureIn(unescaped(metadata[signatureHeader])),
    arrivedAt: Number(arrivedAt),
    // The sidecar does not report whose clock `arrivedAt` is from (append-times.ts).
    appendedAt: Number.NaN,
    value: Buffer.from(event ?? '', 'base64'),
  }
}

function guidIn(text: string | undefined): string | undefined {
  return isGuid(text) ? text.toLowerCase() : undefined
}

function momentIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{13}$/.test(text) ? Number(text) : undefined
}

/** Returns a text that the component escaped, as Go's url.QueryEscape does. Undefined if there is none, or it is not UTF-8. */
function unescaped(escaped: string | undefined): string | undefined {
  if (!escaped) return undefined
  try {
    return decodeURIComponent(escaped.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

/** Limits the bytes that are parsed at a time, because a parsed event takes many times its size in memory. */
const maxSliceBytes = 2 * 1024 * 1024

/** Cuts a list, in order, so that the values of a slice stay below the limit. A larger value is a slice of its own. */
export function slices<T extends { value: Uint8Array }>(all: T[], maxItems = Number.POSITIVE_INFINITY): T[][] {
  const cut: T[][] = []
  let bytes = 0
  for (const item of all) {
    bytes += item.value.byteLength
    const last = cut.at(-1)
    if (last && last.length < maxItems && bytes <= maxSliceBytes) {
      last.push(item)
    } else {
      cut.push([item])
      bytes = item.value.byteLength
    }
  }
  return cut
}
