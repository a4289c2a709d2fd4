import { typeOf, versionsByName } from '../schemas/event-type.ts'
import { knownVersions, schemaOf, type Variant } from '../schemas/schemas.ts'
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
 * Returns the envelope in a Kafka value, by the tolerant rules of a receiver (schemas/envelope.received.json). Its own GUIDs are
 * in lower case. Everything else stays unchanged, including fields without a schema. The Payload is not validated.
 * @param bytes UTF-8 JSON, with or without a byte order mark
 * @throws {EnvelopeError} `not-utf8`, `not-json` or `not-an-envelope`
 */
export function parseEnvelope(bytes: Uint8Array): ReceivedEnvelope {
  const document = decode(bytes)
  refuse(together(limitFault(document, isPlain(bytes)), envelopeFault(document, 'received')))
  return withLowerCaseIds(document as ReceivedEnvelope)
}

/**
 * Validates the Payload by Name and Version (schemas/events/). Returns a copy of the envelope with the Payload's GUIDs in lower case.
 * @throws {EnvelopeError} `unknown-event` (no fault unless the caller handles it), `unknown-version` or `invalid-payload`
 */
export function checkPayload(envelope: ReceivedEnvelope): KnownEvent {
  refuse(payloadFault(envelope))
  return withLowerCasePayload(envelope) as KnownEvent
}

/**
 * Does the work of parseEnvelope and checkPayload, so that the error has the problems of both.
 * @param bytes UTF-8 JSON, with or without a byte order mark
 * @throws {EnvelopeError} with the code of the first check that failed
 */
export function parseEvent(bytes: Uint8Array): KnownEvent {
  return parseWhole(bytes, 'received') as KnownEvent
}

/**
 * Parses an event by the strict rules of a publisher (schemas/envelope.full.json): Id, CorrelationId and TraceId are required.
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

/** Derived from a receiver's list of types, once for each list. An entry is freed together with its list. */
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
 * Selects the events of a receiver that handles the given types. Returns the event with a valid Payload, whose GUIDs are in lower
 * case, or undefined for an event of another application. A handled name in another version is refused, even if it has a schema.
 * A name that is nearly a handled one is refused, too. Both would be lost if they passed as events of another application.
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

/** Returns a valid envelope with its own GUIDs in lower case, so that two spellings of an id are one id. */
export function withLowerCaseIds<E extends ReceivedEnvelope>(envelope: E): E {
  const copy: ReceivedEnvelope = { ...envelope }
  for (const field of envelopeGuids) {
    const guid = copy[field]
    if (guid !== undefined) copy[field] = guid.toLowerCase()
  }
  return copy as E
}

/** Returns a valid event with those GUIDs in lower case that the schema of its Payload declares. */
export function withLowerCasePayload<E extends ReceivedEnvelope>(envelope: E): E {
  const { guidFields } = schemaOf(typeOf(envelope))
  const payload = { ...envelope.Payload }
  for (const field of guidFields) {
    const guid = payload[field]
    if (typeof guid === 'string') payload[field] = guid.toLowerCase()
  }
  return { ...envelope, Payload: payload }
}
