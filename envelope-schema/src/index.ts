export { asyncApiDocument, type Traffic } from './asyncapi/document.ts'
export { asyncApiPage, asyncApiPageSources } from './asyncapi/page.ts'
export type { AsyncApiDocument } from './asyncapi/types.ts'
export { isForeignName } from './check.ts'
export { binaryMessage, type CloudEventMessage, cloudEventOf, structuredMessage } from './cloud-event-messages.ts'
export { type CloudEvent, fromCloudEvent, toCloudEvent } from './cloud-events.ts'
export { createEnvelope, type NewEvent } from './create.ts'
export { describeProblem, EnvelopeError, type EnvelopeErrorCode, envelopeErrorCodes, type Problem } from './error.ts'
export { typeOf } from './event-type.ts'
export { eventTypes, fieldSchema, payloadFields } from './field-schema.ts'
export { fieldValidator, isGuidField } from './field-validator.ts'
export { completeEnvelope, deterministicId, type Origin } from './ids.ts'
export { isPlainKey, pointerOf } from './limits.ts'
export { maskedEvent } from './masked-event.ts'
export { checkPayload, parseEnvelope, parseEvent, parseFullEnvelope } from './parse.ts'
export { mayShow, meansOneOf, openFields, personalFields, personalNames } from './personal.ts'
export { bundle, schemaDocuments } from './schema-documents.ts'
export { selectEvent } from './select.ts'
export { noTenant, type Tenant, tenantOf } from './tenant.ts'
export { deadLetterTopic, orderEvents, paymentEvents } from './topics.ts'
export type {
  Envelope,
  EventName,
  EventOf,
  EventPayloads,
  EventType,
  FullEvent,
  KnownEvent,
  ReceivedEnvelope,
} from './types.ts'
export { type Mode, modes, type Verdict, validateBytes, validateDocument } from './verdict.ts'
