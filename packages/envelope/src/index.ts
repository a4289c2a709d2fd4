export { asyncApiDocument, type Traffic } from './asyncapi/document.ts'
export { asyncApiPage, asyncApiPageSources } from './asyncapi/page.ts'
export type { AsyncApiDocument } from './asyncapi/types.ts'
export { schemaChanges } from './compat/changes.ts'
export {
  binaryMessage,
  type CloudEvent,
  type CloudEventMessage,
  cloudEventOf,
  fromCloudEvent,
  structuredMessage,
  toCloudEvent,
} from './envelope/cloud-events.ts'
export {
  completeEnvelope,
  createEnvelope,
  deterministicId,
  type IdSource,
  type NewEvent,
  noTenant,
  type Origin,
  type RecordContent,
  recordId,
  type Tenant,
  tenantOf,
} from './envelope/create.ts'
export {
  checkPayload,
  inexactFields,
  inexactNumber,
  parseEnvelope,
  parseEvent,
  parseFullEnvelope,
  requireExactFields,
  selectEvent,
  upcast,
} from './envelope/parse.ts'
export { maskedEvent, mayShow, meansOneOf, openFields, personalFields, personalNames } from './envelope/personal.ts'
export { type Mode, modes, type Verdict, validateBytes, validateDocument } from './envelope/verdict.ts'
export { deadLetterTopic } from './kafka/record.ts'
export { contractFolder } from './schemas/contract-folder.ts'
export {
  type CamelCase,
  camelCase,
  camelCaseName,
  eventNames,
  eventTypes,
  exampleOfField,
  examplePayload,
  fieldSchema,
  isRequiredField,
  isSamePayload,
  type PascalCase,
  pascalCase,
  payloadFields,
} from './schemas/field-schema.ts'
export { isGuid, parseGuid } from './schemas/guid.ts'
export { bundle, schemaDocuments } from './schemas/schema-documents.ts'
export { eventSchemas, guidPattern, inline, newestType, notBlankPattern, typeOf } from './schemas/schemas.ts'
// The contract extends EventPayloads by declaration merging, which works only if this file exports `*`.
export type * from './schemas/types.ts'
export { fieldValidator, isForeignName, isGuidField, isPlainKey, nestsTooDeep, pointerOf } from './validation/check.ts'
export { decimalPlaces, hiddenByParsing, scanJson } from './validation/json-text.ts'
export { momentProblem, parseMoment } from './validation/moment.ts'
export { nearMissIn } from './validation/near-miss.ts'
export {
  describeProblem,
  EnvelopeError,
  type EnvelopeErrorCode,
  envelopeErrorCodes,
  type Problem,
} from './validation/problems.ts'
