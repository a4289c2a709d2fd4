export type { Caller } from './auth/caller.ts'
export { createHttpTarget, type TargetSettings } from './calls/http-target.ts'
export type { CallRequest, CallTarget, Outcome } from './calls/target.ts'
export {
  type CallOutcome,
  type DecisionContext,
  type EntityDefinition,
  entity,
  keyReused,
  type OpenCall,
  Refused,
  type Schedule,
  type TimeContext,
} from './entity/entity.ts'
export { type Facts, facts, timeOf } from './entity/facts.ts'
export { type Done, type Entity, openEntity } from './entity/open-entity.ts'
export { getRoute, listRoute } from './entity/read-routes.ts'
export { timeLimit } from './limits.ts'
export { amountFlaw, type Currency, currencyCodes, currencyOf } from './money/money.ts'
export { type AllParts, type App, createApp, createParts, withEntities } from './runtime/create-app.ts'
export {
  type Background,
  defineService,
  type ServiceContext,
  type ServiceDefinition,
  type ServiceParts,
} from './runtime/define-service.ts'
export type { DryRunRecord, Verdict } from './runtime/dry-run/dry-run.ts'
export { watched } from './runtime/dry-run/watched.ts'
export { run } from './runtime/process/run.ts'
export { baseSections, otherNames, section } from './runtime/settings/sections.ts'
export { type BaseSettings, readSettings, SettingsError } from './runtime/settings/settings.ts'
export { targetSection } from './runtime/settings/target-section.ts'
export { OverloadError } from './sidecar/batcher.ts'
export { SidecarError, UncertainError } from './sidecar/sidecar.ts'
export { createDocuments, type Documents, type DocumentsOf } from './state/documents.ts'
export type { Page, PageOptions } from './state/list-page.ts'
export { type Consumer, createConsumers } from './stream/consuming/consumer.ts'
export { handledTypes, type Reactions } from './stream/consuming/event-handler.ts'
export { isInfrastructure } from './stream/dead-letters/fault.ts'
export {
  createForward,
  createPublish,
  createPublisher,
  type Forward,
  type Publish,
} from './stream/publishing/publish.ts'
export { createLog } from './telemetry/log.ts'
export { readTrust, type TrustSettings } from './trust/read-trust.ts'
export { UntrustedError } from './trust/trust.ts'
export { hiddenErrors } from './web/body.ts'
export { createStreams, type Send, type Streams } from './web/event-stream.ts'
export {
  bodyReader,
  type Input,
  type Inputs,
  idempotencyKey,
  jsonBody,
  pageOptions,
  pathId,
  pathWord,
  queryId,
  queryWord,
} from './web/input.ts'
export { amountRule, contractFields, dateTime, guidText, type Model, model, pageOf, text } from './web/model.ts'
export type { Site, SiteFile, StaticFile } from './web/pages.ts'
export { HttpProblem, invalid, notFound, unavailable } from './web/problems.ts'
export { type Answer, type Context, type Route, route } from './web/route.ts'
