import { typeOf } from '../schemas/event-type.ts'
import { schemaOf } from '../schemas/schemas.ts'
import type { ReceivedEnvelope } from '../schemas/types.ts'

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
