import { type IdSource, parseMoment, type RecordContent, recordId } from '@orderflow/envelope-schema'
import type { Place } from './place.ts'

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
  { value, key, arrivedAt, origin }: RecordContent & { arrivedAt: number; origin: Place },
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
