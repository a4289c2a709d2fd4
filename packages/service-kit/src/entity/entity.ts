import type { EventName, EventType, FullEvent, NameOf, PayloadOf, Tenant } from '@orderflow/envelope'
import type { Outcome } from '../calls/target.ts'
import type { FactNames } from './facts.ts'

/** An own event: its name for the newest version, or `Name@1` for a version that stays until the declaration names another one. */
export type OwnType = EventType | EventName

/** The name of an own event. */
export type OwnName<T extends OwnType> = Extract<T extends EventType ? NameOf<T> : T, EventName>

/** The payloads of the events that a decision returns, by name. */
export type NewEvents<T extends OwnType> = { readonly [K in T as OwnName<K>]?: PayloadOf<K> } & {
  readonly [N in Exclude<EventName, OwnName<T>>]?: never
}

declare const hint: unique symbol
/** No value has this type. With it, the compiler knows the literals of a payload, such as those of an `enum`, before it knows the entity's own events. */
type LiteralHint = { readonly [hint]: never } & { readonly [K in EventType as NameOf<K>]?: PayloadOf<K> }

/** Nothing, the payloads of events by name, or a list of these, for example if an event occurs several times. */
export type Decision<T extends OwnType> =
  | NewEvents<T>
  | readonly (NewEvents<T> | LiteralHint)[]
  | LiteralHint
  | undefined
  // biome-ignore lint/suspicious/noConfusingVoidType: a decision may end before a return statement
  | void

/** A decision gets its event, the state, and these values. It uses nothing else, so it is a pure function. */
export interface DecisionContext {
  /** The id of the entity. */
  id: string
  /** The time of the decision, which becomes the CreationDate of its events. */
  now: Date
  newId(): string
}

/** The values that a decision about a deadline or a schedule gets. */
export interface TimeContext extends DecisionContext {
  /** The time of the deadline, or of the schedule. `now` may be later, for example after an outage. */
  due: Date
}

/** A call to another system that a state needs. */
export interface OpenCall {
  /** The name of the other system, as in the targets of `openEntity`. */
  target: string
  /** The operation of the target, such as `capture`. */
  operation: string
  /**
   * The number or name of the attempt; 1 by default. All tries of an attempt have the same idempotency key. Another attempt has another key, so the target may
   * do it again: raise it only after the target has refused the last one.
   */
  attempt?: number | string
  input: unknown
}

/** The outcome of a call on which an entity decides. A third one, `unknown`, leads to another try, and at the end to a dead letter for a person. */
export type CallOutcome = Exclude<Outcome, { outcome: 'unknown' }>

/** Regular times, by the log's clock. */
export interface Schedule {
  /** Five fields, as in cron: minute, hour, day of the month, month, day of the week. */
  cron: string
  /**
   * A time zone, such as `Europe/Berlin`; UTC by default. If a change of the clocks leaves out a time of day, it passes when the gap ends. A time of day
   * that occurs twice passes only the first time.
   */
  zone?: string
  /** The id of the entity that decides, which may depend on the time. Default: the name of the entity. */
  of?: string | ((due: Date) => string)
  /** The times that pass after an outage: `latest` for only the latest of the missed times, or `each`. Default: `latest`. */
  missed?: 'latest' | 'each'
}

/**
 * The declaration of an entity: a thing with an id that changes only by events. The kit derives all else from it: reactions, a rebuild,
 * announcements, ids, causes, Idempotency-Keys, the document and the list.
 * @template S the state
 * @template V the entity as readers see it
 * @template T the entity's own events: names, or `Name@1`
 * @template F the names of collected events (`facts`)
 * @template O the names of events on which the entity decides
 * @template C the inputs of commands, by name
 * @template D the names of deadlines and schedules
 * @template L the names of calls
 */
export interface EntityDefinition<
  S,
  V,
  T extends OwnType,
  F extends EventName,
  O extends EventName,
  C extends object,
  D extends string = never,
  L extends string = never,
> {
  /** The prefix of documents, and of derived ids: `payment` gives the document `payment/<id>`. Without a slash. */
  name: string
  /** The entity's own events, from which a rebuild restores it. A version, as in `Name@1`, is the version that the entity publishes. */
  events: readonly T[]
  /** Returns the id of the entity that an event is about. */
  id(payload: PayloadOf<F | O | OwnName<T>>): string
  /** The state of an entity without events. */
  initial: S
  /**
   * Converts stored states of earlier releases: the first function converts a state of the first release to the second form, and so on. Without them, a
   * release with another form of the state needs a rebuild of its store. States of `facts` need none.
   */
  // biome-ignore lint/suspicious/noExplicitAny: each function has the types of its own release
  upcast?: readonly ((state: any) => any)[]
  /**
   * Adds own events to the state, live and in a rebuild, in the sequence of the decisions and each once. An event that is not listed leaves the state unchanged.
   */
  evolve?: { readonly [K in OwnName<T>]?: (state: NoInfer<S>, event: FullEvent<K>) => NoInfer<S> }
  /** Collects events of any publisher in place of `evolve`: see `facts`. */
  facts?: FactNames<F>
  /** Decides on events. It returns own events, or throws a refusal, which makes a dead letter. A rebuild never decides. */
  on?: { readonly [K in O]: (event: FullEvent<K>, state: NoInfer<S>, context: DecisionContext) => Decision<T> }
  /**
   * Decides on requests. It returns own events, or throws a refusal, which becomes the answer. It is not called for a repeated request with the same
   * Idempotency-Key.
   */
  commands?: { readonly [K in keyof C]: (input: C[K], state: NoInfer<S>, context: DecisionContext) => Decision<T> }
  /**
   * Returns the time of each open deadline, by the log's clock. A deadline ends or moves when the state changes so that this function no longer returns
   * it, or returns another time. It may only use the state, because a rebuild calls it, too.
   */
  deadlines?(state: NoInfer<S>): { readonly [K in NoInfer<D>]?: Date | string | undefined }
  /**
   * Decides when a deadline has passed, if it is still open. Its events must end or move the deadline. Each deadline that passes is an event in the log
   * (`DeadlinePassed`), and is decided when that event arrives. So it may be late, but is never early.
   */
  onDeadline?: { readonly [K in D]: (state: NoInfer<S>, context: TimeContext) => Decision<T> }
  /**
   * Schedules that call `onDeadline` at regular times, each time at most once. A text stands for its `cron`. Their decisions may return nothing. Their
   * events have no tenant.
   */
  every?: { readonly [K in NoInfer<D>]?: Schedule | string }
  /**
   * Returns the calls that the state needs. A call ends when the state changes so that this function no longer returns it, or returns another attempt. It
   * may only use the state. A rebuild calls nothing. Afterwards, the target is asked about each call that is still open.
   */
  calls?(state: NoInfer<S>): { readonly [K in NoInfer<L>]?: OpenCall | undefined }
  /**
   * Decides when a call has an outcome. Its events must end the call, or raise its attempt. The outcome is an event in the log (`CallAnswered`), and is
   * decided when that event arrives, also if the state no longer has the call.
   */
  onCall?: { readonly [K in L]: (outcome: CallOutcome, state: NoInfer<S>, context: DecisionContext) => Decision<T> }
  /** Returns what readers see; undefined while the entity is unknown to readers, and not in the list. */
  view(state: NoInfer<S>, id: string): V | undefined
  /**
   * Returns true if an own event answered a request. A rebuild then restores its Idempotency-Key. Only needed if commands with an id accept such keys.
   */
  answersRequest?(event: FullEvent<OwnName<NoInfer<T>>>): boolean
  /** True if two tenants never use the same id. The Ids of collected own events then do not depend on the tenant. */
  hasGlobalIds?: boolean
}

/** Returns the declaration unchanged; infers its types. */
export function entity<
  S,
  V,
  const T extends OwnType,
  F extends EventName = never,
  O extends EventName = never,
  C extends object = object,
  const D extends string = never,
  const L extends string = never,
>(definition: EntityDefinition<S, V, T, F, O, C, D, L>): EntityDefinition<S, V, T, F, O, C, D, L> {
  return definition
}

/** Thrown by a decision for a broken rule of the domain. `code` is one of the service's `refusals`. */
export class Refused extends Error {
  override name = 'Refused'
  readonly code: string
  /** Extension members of the answer, such as the id of the entity. */
  readonly details: Record<string, unknown>
  constructor(code: string, message: string, details: Record<string, unknown> = {}) {
    super(message)
    this.code = code
    this.details = details
  }
}

/**
 * Returns the refusal of a request whose Idempotency-Key was used before for something else.
 * @param name the name of the entity
 * @param id the id of the entity for which the key was used
 */
export function keyReused(name: string, id: string, how = 'with another body'): Refused {
  const message = `This key was already used ${how}. Send a new key, or none.`
  return new Refused('idempotency-key-reused', message, { [`${name}Id`]: id })
}

export interface RequestContext {
  tenant: Tenant
  /** 1 to 255 characters. */
  idempotencyKey?: string | undefined
  /** The id of the request's trace, a GUID. Default: the trace of the entity's first event, or a new trace. */
  traceId?: string | undefined
}
