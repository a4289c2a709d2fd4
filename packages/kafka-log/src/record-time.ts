/** The last time whose year has four digits. The text of a later time would be sorted before earlier times. */
const lastTime = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/**
 * Returns a record's timestamp as a time from 1970 to 9999. On a topic with CreateTime, such as a dead-letter topic, the publisher chooses any signed
 * integer of 64 bits. Kafka defines a negative timestamp as a missing one, and `Date` supports only 17 digits. NaN stays NaN.
 */
export const recordTime = (timestamp: number): number => Math.min(Math.max(timestamp, 0), lastTime)

/** Returns a record's timestamp in ISO 8601, UTC. It never fails, and the texts are sorted like the times. */
export const isoTime = (timestamp: number): string => new Date(recordTime(timestamp) || 0).toISOString()

/** Returns false if a timestamp is missing, or outside of the years 1970 to 9999. */
export const isKnownTime = (timestamp: number): boolean =>
  Number.isInteger(timestamp) && recordTime(timestamp) === timestamp
