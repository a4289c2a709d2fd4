import type { DocumentsOf } from '../state/documents.ts'
import type { Reactions } from '../stream/intake.ts'
import type { Forward, Publish } from '../stream/publish.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Trust } from '../trust/trust.ts'
import type { Field } from '../web/model.ts'
import type { Site, StaticFile } from '../web/pages.ts'
import type { Refusals } from '../web/problems.ts'
import type { Route } from '../web/route.ts'
import type { BaseSettings, Section } from './settings.ts'

/** What a service is built from. */
export interface ServiceContext<S extends object = object> {
  /** AppId and AppName of what it publishes. */
  app: { id: string; name: string }
  settings: BaseSettings & S
  log: Logger
  publish: Publish
  forward: Forward
  /** Who outside may say what. */
  trust: Pick<Trust, 'requireAdmitted'>
  documents: DocumentsOf
  now: () => Date
  newId: () => string
}

/** What a service does all the time, whoever asks it for anything. */
export interface Background {
  /** Begins, once the service listens. Nobody waits for it. */
  start(): void | Promise<void>
  /** Ends, and the answers that would go on with it: called as the service stops, which waits for it. */
  stop(): Promise<void>
}

/** What a service does. */
export interface ServiceParts {
  /** The operations of its public API. */
  routes: readonly Route[]
  /** What it does with the events that it consumes, by topic and `Name@Version`. */
  reactions: Reactions
  /** None for most, which only answer requests and events. */
  background?: Background
  /** Documents that it shows to everybody, such as its schemas. */
  files?: readonly StaticFile[]
  /** A page of its own, in place of that of its operations. */
  page?: Site
  /** What it rebuilds its store from, by topic in the order in which they are read. Publishes nothing. */
  rebuild: Reactions<boolean>
}

/**
 * All that only a service can say of itself. The rest, from listeners to dead letters, is the same for each of them.
 * @template S its own sections of the settings
 */
export interface ServiceDefinition<S extends object = object> {
  /** The service's folder, which has its `appsettings.json`. */
  root: URL
  /** What it is, in a sentence or two, for the page of its operations. */
  description: string
  /** Sections of the settings besides those that every service has: a JSON Schema each. */
  sections?: Record<keyof S & string, Section>
  /** The topics that it publishes to, on its own behalf or another's, besides those of its dead letters. services.json says the same, and a test compares. */
  produces: readonly string[]
  /** The errors of its domain, by `code`: what a request is answered with. To an event they are the reason of a dead letter. */
  refusals: Refusals
  /** What its problem details may have besides the members that all have, such as the id of the order in question. */
  problemMembers?: Record<string, Field>
  create(context: ServiceContext<S>): ServiceParts
}

/** Names the type of a service's own settings, and checks the rest against it. */
export function defineService<S extends object = object>(definition: ServiceDefinition<S>): ServiceDefinition<S> {
  return definition
}
