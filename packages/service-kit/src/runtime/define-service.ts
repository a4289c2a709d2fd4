import type { DocumentsOf } from '../state/documents.ts'
import type { Reactions } from '../stream/event-handler.ts'
import type { Forward, Publish } from '../stream/publish.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Trust } from '../trust/trust.ts'
import type { Field } from '../web/input.ts'
import type { Site, StaticFile } from '../web/pages.ts'
import type { Refusals } from '../web/problems.ts'
import type { Route } from '../web/route.ts'
import type { BaseSettings, Section } from './settings.ts'

/** The dependencies of a service. */
export interface ServiceContext<S extends object = object> {
  /** AppId and AppName of what it publishes. */
  app: { id: string; name: string }
  settings: BaseSettings & S
  log: Logger
  publish: Publish
  forward: Forward
  /** The rights of outside publishers. */
  trust: Pick<Trust, 'requireAdmitted'>
  documents: DocumentsOf
  now: () => Date
  newId: () => string
}

/** A service's background work, independent of requests and events. */
export interface Background {
  /** Begins after the service listens. The result is not awaited. */
  start(): void | Promise<void>
  /** Ends the work, and the answers that depend on it. The stop of the service waits for it. */
  stop(): Promise<void>
}

/** The parts of a service. */
export interface ServiceParts {
  /** The operations of its public API. */
  routes: readonly Route[]
  /** Its reactions to the events that it consumes, by topic and the event's name. */
  reactions: Reactions
  background?: Background
  /** Public documents, such as its schemas. */
  files?: readonly StaticFile[]
  /** Its own page, in place of the page of its operations. */
  page?: Site
  /** The reactions that rebuild its store, by topic in the order of reading. They publish nothing. */
  rebuild: Reactions<boolean>
}

/**
 * The definition of a service. Everything else, from listeners to dead letters, is the same for every service.
 * @template S its own sections of the settings
 */
export interface ServiceDefinition<S extends object = object> {
  /** The service's folder, which has its `appsettings.json`. */
  root: URL
  /** One or two sentences about it, for the page of its operations. */
  description: string
  /** Its own sections of the settings, in addition to those of every service: a JSON Schema each. */
  sections?: Record<keyof S & string, Section>
  /** The topics that it publishes to, for itself or for others, without those of its dead letters. A test compares them with services.json. */
  produces: readonly string[]
  /** The errors of its domain, by `code`, with their answers to requests. For an event, the code is the reason of its dead letter. */
  refusals: Refusals
  /** Extension members of its problem details, such as the id of the object in question. */
  problemMembers?: Record<string, Field>
  create(context: ServiceContext<S>): ServiceParts
}

/** Returns the definition, with its type checked. */
export function defineService<S extends object = object>(definition: ServiceDefinition<S>): ServiceDefinition<S> {
  return definition
}
