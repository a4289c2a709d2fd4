import { completeEnvelope, type Envelope, isGuid, parseEnvelope } from '@orderflow/envelope-schema'
import { idSourceOf, type Place } from '../../stream/record.ts'
import type { FailedEvent } from './event.ts'

const names = ['Id', 'CorrelationId', 'TraceId'] as const satisfies (keyof Envelope)[]

export interface KnownIdsOptions {
  /** The event that failed. */
  event: FailedEvent
  origin: Place
  /** See `momentOf`. */
  positionIdsBefore: number | undefined
}

/**
 * Returns the bytes to resend. They are the given ones, unless receivers would derive other ids from them than from the event
 * that failed (it was edited, or its ids derive from its position): then the known ids are written into the envelope.
 */
export function withKnownIds(
  bytes: Uint8Array,
  { event: { value, key, arrivedAt }, origin, positionIdsBefore }: KnownIdsOptions,
): Uint8Array {
  const begin = bytes.indexOf('{'.charCodeAt(0))
  const envelope = parsed(bytes)
  if (!envelope || (value === undefined && !(arrivedAt < (positionIdsBefore ?? Number.NEGATIVE_INFINITY)))) return bytes
  const source = (record: Pick<Parameters<typeof idSourceOf>[0], 'value' | 'arrivedAt'>) =>
    idSourceOf({ ...record, key, origin }, positionIdsBefore)
  const known = completeEnvelope({ ...idsIn(value), ...envelope }, source({ value: value ?? bytes, arrivedAt }))
  const derived = completeEnvelope(envelope, source({ value: bytes, arrivedAt: Date.now() }))
  const lost = names.filter((name) => known[name] !== derived[name])
  if (lost.length === 0) return bytes
  const fields = lost.map((name) => `"${name}":"${known[name]}",`).join('')
  return Buffer.concat([bytes.subarray(0, begin + 1), Buffer.from(fields), bytes.subarray(begin + 1)])
}

/** Returns the ids that an event has itself, also when the rest of it is not valid. */
function idsIn(value: Uint8Array | undefined): Partial<Pick<Envelope, (typeof names)[number]>> {
  if (value === undefined) return {}
  try {
    const document = Object(JSON.parse(Buffer.from(value).toString())) as Record<string, unknown>
    return Object.fromEntries(
      names.flatMap((name) => (isGuid(document[name]) ? [[name, String(document[name]).toLowerCase()]] : [])),
    )
  } catch {
    return {}
  }
}

/** Undefined for what is no envelope, which is not resent. */
function parsed(bytes: Uint8Array) {
  try {
    return parseEnvelope(bytes)
  } catch {
    return undefined
  }
}
