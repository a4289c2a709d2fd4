import { isGuid } from '@orderflow/envelope-schema'
import { placeIn } from '../telemetry/traces/trace.ts'
import { signatureHeader, signatureIn } from '../trust/signature.ts'
import type { Evidence } from '../trust/trust.ts'
import { type Place, parsePlace, precedes } from './place.ts'
import { causedAt, resentFrom, resentRecord } from './record-headers.ts'

/** One Kafka record as it reached this service. */
export interface Delivery extends Evidence {
  entryId: string
  place: Place
  /** When it reached the log, or what its publisher says, as its topic is set: milliseconds since the epoch. */
  arrivedAt: number
  /** Where the event first stood: another place than its own when it is a dead letter that was resent. */
  origin: Place
  /** The record that failed first, as a resent record claims. */
  resentRecord?: string | undefined
  /** The partition key, when it is text. */
  key: string | undefined
  /** The key as it was delivered, URL-escaped. */
  escapedKey: string | undefined
  /** Only a valid one. */
  traceparent: string | undefined
  /** Of a reaction, when its cause reached the log, in milliseconds since 1970; see `causedAt`. */
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
 * @throws {Error} the sidecar does not say it: then nothing can be known of the record, not even by a dead letter
 */
export function positionOf({ metadata }: BulkEntry, topic: string): Place {
  const { __partition: partition, __offset: offset } = metadata
  if (partition === undefined || offset === undefined) throw new Error('a delivery does not say where it comes from')
  return { topic, partition: Number(partition), offset }
}

/**
 * Reads one entry of a bulk delivery. Record headers arrive among the metadata, their values URL-escaped; those named
 * like Dapr's own `__*` are kept out by the component (`excludeHeaderMetaRegex`), so a publisher cannot pretend another
 * place.
 */
export function readDelivery(entry: BulkEntry, topic: string): Delivery {
  const { entryId, event, metadata } = entry
  const { __key: escapedKey, __timestamp: arrivedAt, traceparent } = metadata
  const place = positionOf(entry, topic)
  return {
    entryId,
    place,
    origin: originOf(place, unescaped(metadata[resentFrom])),
    resentRecord: guidIn(metadata[resentRecord]),
    key: unescaped(escapedKey),
    escapedKey,
    traceparent: placeIn(traceparent) && traceparent,
    causedAt: momentIn(metadata[causedAt]),
    signature: signatureIn(unescaped(metadata[signatureHeader])),
    arrivedAt: Number(arrivedAt),
    // Whose clock `arrivedAt` is of, the sidecar does not say (append-times.ts).
    appendedAt: Number.NaN,
    value: Buffer.from(event ?? '', 'base64'),
  }
}

/**
 * Where an event first stood, by the header that a resend sets and any publisher can set. An event goes back to its own
 * topic and partition, and a log only grows: so the header counts when it names an earlier place of the record's own
 * partition, and any other is as good as none. Nobody can claim a partition that does not exist, or a place where
 * an event of somebody else's is yet to stand.
 *
 * A forger can name an earlier event. Only events of 0.1.0 have ids that derive from a position (ADR 32). A faulty record's
 * dead letter then has the other one's id; but it also names its own record, and the list joins only what a note on the dead-letter
 * topic joins, where publishers cannot write (operations/dead-letters/entries.ts).
 */
export function originOf(place: Place, header: string | undefined): Place {
  const origin = parsePlace(header)
  return origin && precedes(origin, place) ? origin : place
}

function guidIn(text: string | undefined): string | undefined {
  return isGuid(text) ? text.toLowerCase() : undefined
}

function momentIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{13}$/.test(text) ? Number(text) : undefined
}

/** The component escapes as Go's url.QueryEscape does. Undefined when there is nothing or it is not UTF-8. */
function unescaped(escaped: string | undefined): string | undefined {
  if (!escaped) return undefined
  try {
    return decodeURIComponent(escaped.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
