import type { Tenant } from '@orderflow/envelope'
import type { DocumentsOf } from '../state/documents.ts'
import type { Publish } from '../stream/publishing/publish.ts'
import type { Tracing } from '../telemetry/context.ts'
import type { Logger } from '../telemetry/log.ts'

/** The parts of a service that its entities use. */
export interface EntityContext {
  /** The AppId and AppName of the service's events. */
  app: { id: string; name: string }
  documents: DocumentsOf
  publish: Publish
  now: () => Date
  newId: () => string
  log: Pick<Logger, 'warn'>
  /** Records calls in the traces of their conversations. */
  tracing?: Tracing | undefined
}

/** An open deadline of an entity. */
export interface OpenDeadline {
  name: string
  /** The time as in events. */
  at: string
  /** True if the deadline has passed, and was not decided. */
  isFired: boolean
}

/** The deadlines of an entity, for operators. */
export interface EntityDeadlines {
  /** Returns the open deadlines of an entity; undefined if the entity does not exist. */
  open(tenant: Pick<Tenant, 'id'>, id: string): Promise<OpenDeadline[] | undefined>
  /**
   * Lets an open deadline pass now. Returns `fired` if it was fired before, and `ended` if it is not open. After an error, the event may follow later.
   */
  fireNow(
    tenant: Pick<Tenant, 'id'>,
    id: string,
    deadline: Pick<OpenDeadline, 'name' | 'at'>,
  ): Promise<'done' | 'fired' | 'ended'>
}
