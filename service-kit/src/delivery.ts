import { traceIdFrom } from './trace.ts'

/** Where a record stands in the log. The offset is a decimal string: Kafka's are 64 bits wide. */
export interface Origin {
  topic: string
  partition: number
  offset: string
}

/** One Kafka record as it reached this service. */
export interface Delivery {
  entryId: string
  origin: Origin
  /** The partition key, when it is text. */
  key: string | undefined
  /** The key as it was delivered, URL-escaped. */
  escapedKey: string | undefined
  /** Only a valid one. */
  traceparent: string | undefined
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
 * Reads one entry of a bulk delivery. Record headers arrive among the metadata; those named like Dapr's own `__*`
 * are kept out by the component (`excludeHeaderMetaRegex`), so a publisher cannot pretend another origin.
 */
export function readDelivery({ entryId, event, metadata }: BulkEntry, topic: string): Delivery {
  const { __partition: partition, __offset: offset, __key: escapedKey, traceparent } = metadata
  if (partition === undefined || offset === undefined) throw new Error('a delivery does not say where it comes from')
  return {
    entryId,
    origin: { topic, partition: Number(partition), offset },
    key: unescapeKey(escapedKey),
    escapedKey,
    traceparent: traceIdFrom(traceparent) && traceparent,
    value: Buffer.from(event ?? '', 'base64'),
  }
}

/** The component escapes keys as Go's url.QueryEscape does. Undefined when there is none or it is not UTF-8. */
function unescapeKey(escaped: string | undefined): string | undefined {
  if (!escaped) return undefined
  try {
    return decodeURIComponent(escaped.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
