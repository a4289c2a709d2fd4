import type { EntityContext } from '../entity/context.ts'
import type { Entity } from '../entity/open-entity.ts'
import type { Reactions } from '../stream/consuming/event-handler.ts'
import type { Forward } from '../stream/publishing/publish.ts'
import { addSources } from '../telemetry/constant-texts.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Trust } from '../trust/trust.ts'
import type { Field } from '../web/model.ts'
import type { Site, StaticFile } from '../web/pages.ts'
import type { Refusals } from '../web/problems.ts'
import type { Route } from '../web/route.ts'
import type { Section } from './settings/sections.ts'
import type { BaseSettings } from './settings/settings.ts'

export interface ServiceContext<S extends object = object> extends EntityContext {
  settings: BaseSettings & S
  log: Logger
  forward: Forward
  trust: Pick<Trust, 'requireAdmitted'>
}

export interface Background {
  /** Begins the background work, when the service's listeners are open. The caller does not wait for the result. */
  start(): void | Promise<void>
  /** Ends the work, and the HTTP responses that depend on it. The shutdown waits for the result. */
  stop(): Promise<void>
}

export interface ServiceParts {
  routes: readonly Route[]
  /** The service's entities, whose reactions and rebuilds the service gets. */
  entities?: readonly Omit<Entity<unknown, unknown, object>, 'do' | 'idOf' | 'get' | 'page'>[]
  /** Other event handlers, by topic and event name. */
  reactions?: Reactions
  background?: Background
  files?: readonly StaticFile[]
  /** The service's own page, which replaces the page of operations as the start page. */
  page?: Site
  /**
   * The other reactions that rebuild the store, by topic. They publish nothing. A rebuild reads the topics in the order of this object's keys. The
   * events of a topic that the service does not consume must be saved before they are published, because they are compared with the store.
   */
  rebuild?: Reactions<boolean>
}

/** The definition of a service. @template S the service's own sections of the settings */
export interface ServiceDefinition<S extends object = object> {
  root: URL
  /** The description of the service on its page of operations, in one or two sentences. */
  description: string
  sections?: Record<keyof S & string, Section>
  /** The topics to which the service publishes events, except dead-letter topics. A test compares them with services.json. */
  produces: readonly string[]
  /** The HTTP responses to the domain's errors, by the error's `code`. A dead letter names this code as its reason. */
  refusals: Refusals
  /** The extension members of problem details that the service uses, such as the id of an order. */
  problemMembers?: Record<string, Field>
  create(context: ServiceContext<S>): ServiceParts
}

export function defineService<S extends object = object>(definition: ServiceDefinition<S>): ServiceDefinition<S> {
  addSources(definition.root)
  return definition
}
