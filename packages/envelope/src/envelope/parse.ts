import type { Variant } from '../schemas/schemas.ts'
import type { Envelope, KnownEvent, ReceivedEnvelope } from '../schemas/types.ts'
import { envelopeFault, eventFault, limitFault, payloadFault, together } from '../validation/check.ts'
import { refuse } from '../validation/error.ts'
import { decode, isPlain } from './decode.ts'
import { withLowerCaseIds, withLowerCasePayload } from './guids.ts'

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
