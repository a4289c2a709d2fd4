export { type App, createApp, createParts } from './runtime/create-app.ts'
export {
  defineService,
  type ServiceContext,
  type ServiceDefinition,
  type ServiceParts,
} from './runtime/define-service.ts'
export { readSettings } from './runtime/read-settings.ts'
export { run } from './runtime/run.ts'
export { type BaseSettings, section } from './runtime/settings.ts'
export { SidecarError } from './sidecar/sidecar.ts'
export { UncertainError } from './sidecar/uncertain-error.ts'
export { createDocuments, type Documents, type DocumentsOf } from './state/documents.ts'
export type { Page, PageOptions } from './state/list-page.ts'
export { type Consumer, createConsumers } from './stream/consumer.ts'
export { isInfrastructure } from './stream/fault.ts'
export type { Reactions } from './stream/intake.ts'
export { createPublish, type Publish } from './stream/publish.ts'
export { createPublisher } from './stream/publisher.ts'
export { createLog } from './telemetry/log.ts'
export { readTrust, type TrustSettings } from './trust/read-trust.ts'
export { bodyReader, jsonBody } from './web/json-body.ts'
export { dateTime, guidText, model, text } from './web/model.ts'
export { pageOf, pageOptions } from './web/page.ts'
export { idempotencyKey, pathId, queryId } from './web/parameters.ts'
export { type Answer, type Route, route } from './web/route.ts'
