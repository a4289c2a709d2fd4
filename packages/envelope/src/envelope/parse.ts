import { typeOf, versionsByName } from '../schemas/event-type.ts'
import type { Variant } from '../schemas/schemas.ts'
import { knownVersions, schemaOf } from '../schemas/schemas.ts'
import type { Envelope, EventOf, EventType, KnownEvent, ReceivedEnvelope } from '../schemas/types.ts'
import {
  envelopeFault,
  eventFault,
  limitFault,
  payloadFault,
  together,
  unknownEvent,
  unknownVersion,
} from '../validation/check.ts'
import { refuse } from '../validation/error.ts'
import { nearMissIn } from '../validation/near-miss.ts'
import { decode, isPlain } from './decode.ts'

/**
 * The envelope in a Kafka value, by the tolerant rules of a receiver (schemas/envelope.received.json). Its own GUIDs
 * are lower-cased; all else stays as it came, fields that no schema names included. The Payload is not validated.
 * @param bytes UTF-8 JSON, with or without a byte order mark
 * @throws {EnvelopeError} `not-utf8`, `not-json` or `not-an-envelope`
 */
export function parseEnvelope(bytes: Uint8Array): ReceivedEnvelope {
  const document = decode(bytes)
  refuse(together(limitFault(document, isPlain(bytes)), envelopeFault(document, 'received')))
  return withLowerCaseIds(document as ReceivedEnvelope)
}

/**
 * The envelope with its Payload validated by Name and Version (schemas/events/) and the Payload's GUIDs lower-cased.
 * The given envelope is not changed.
 * @throws {EnvelopeError} `unknown-event` (no fault if nobody here handles it), `unknown-version` or `invalid-payload`
 */
export function checkPayload(envelope: ReceivedEnvelope): KnownEvent {
  refuse(payloadFault(envelope))
  return withLowerCasePayload(envelope) as KnownEvent
}

/**
 * parseEnvelope and checkPayload in one, so that the error has the problems of both.
 * @param bytes UTF-8 JSON, with or without a byte order mark
 * @throws {EnvelopeError} with the code of the first check that failed
 */
export function parseEvent(bytes: Uint8Array): KnownEvent {
  return parseWhole(bytes, 'received') as KnownEvent
}

/**
 * parseEvent by the strict rules of a publisher (schemas/envelope.full.json): Id, CorrelationId and TraceId are required.
 * @param bytes UTF-8 JSON, with or without a byte order mark
 * @throws {EnvelopeError} with the code of the first check that failed
 */
export function parseFullEnvelope(bytes: Uint8Array): Envelope & KnownEvent {
  return parseWhole(bytes, 'full') as Envelope & KnownEvent
}

function parseWhole(bytes: Uint8Array, variant: Variant): ReceivedEnvelope {
  const document = decode(bytes)
  refuse(together(limitFault(document, isPlain(bytes)), eventFault(document, variant)))
  return withLowerCasePayload(withLowerCaseIds(document as ReceivedEnvelope))
}

interface Selection {
  versions: ReadonlyMap<string, readonly number[]>
  nearMiss: (name: string) => string | undefined
}

/** What follows from a receiver's list of types, worked out once for each list and dropped together with it. */
const selections = new WeakMap<readonly EventType[], Selection>()

function selectionOf(types: readonly EventType[]): Selection {
  const found = selections.get(types)
  if (found) return found
  const versions = versionsByName(types)
  const selection = { versions, nearMiss: nearMissIn(versions.keys()) }
  selections.set(types, selection)
  return selection
}

/**
 * What a receiver makes of an event of which it handles the given types and no other: the event with its Payload
 * validated by the schema of its type and the Payload's GUIDs lower-cased, or undefined, which is an event of somebody
 * else. A handled name in a version that is not handled is refused, whichever schemas there are, and so is a name
 * without a schema that was probably meant to be a handled one: both would be lost if they passed as somebody else's.
 * @param types a list that does not change; give the same one for each event
 * @throws {EnvelopeError} `invalid-payload`, `unknown-version` or `unknown-event`
 */
export function selectEvent<T extends EventType>(
  envelope: ReceivedEnvelope,
  types: readonly T[],
): EventOf<T> | undefined {
  const { Name, Version } = envelope
  const { versions, nearMiss } = selectionOf(types)
  const handled = versions.get(Name)
  if (handled) {
    refuse(handled.includes(Version) ? payloadFault(envelope) : unknownVersion('handled', Name, handled))
    return withLowerCasePayload(envelope) as EventOf<T>
  }
  const meant = knownVersions.has(Name) ? undefined : nearMiss(Name)
  refuse(meant ? unknownEvent(`write ${meant}`) : undefined)
  return undefined
}

const envelopeGuids = ['Id', 'CorrelationId', 'TraceId', 'AppId'] as const

/** The envelope with its own GUIDs in lower case, so that two spellings of an id are one id. Expects a valid envelope. */
export function withLowerCaseIds<E extends ReceivedEnvelope>(envelope: E): E {
  const copy: ReceivedEnvelope = { ...envelope }
  for (const field of envelopeGuids) {
    const guid = copy[field]
    if (guid !== undefined) copy[field] = guid.toLowerCase()
  }
  return copy as E
}

/** The envelope with the GUIDs of its Payload's schema in lower case. Expects a valid event. */
export function withLowerCasePayload<E extends ReceivedEnvelope>(envelope: E): E {
  const { guidFields } = schemaOf(typeOf(envelope))
  const payload = { ...envelope.Payload }
  for (const field of guidFields) {
    const guid = payload[field]
    if (typeof guid === 'string') payload[field] = guid.toLowerCase()
  }
  return { ...envelope, Payload: payload }
}
