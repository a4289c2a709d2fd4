export { type App, type AppDependencies, createApp, createParts } from './runtime/create-app.ts'
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
export { createDocuments, type Documents } from './state/documents.ts'
export type { Page, PageOptions } from './state/list-page.ts'
export { type Consumer, createConsumers } from './stream/consumer.ts'
export { isInfrastructure } from './stream/fault.ts'
export type { Handlers, Reactions } from './stream/intake.ts'
export { createPublisher, type Publish, recordOf } from './stream/publisher.ts'
export { createLog, type Logger } from './telemetry/log.ts'
export { traceIdFrom } from './telemetry/trace.ts'
