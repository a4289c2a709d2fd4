import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type EventName, type FullEvent, type Tenant, upcast } from '@orderflow/envelope'
import { SidecarError } from '../sidecar/sidecar.ts'
import type { Mark } from '../state/registers.ts'
import type { EntityDefinition } from './entity.ts'
import { causeIn, collect, type Facts, factOf, isEarlier, upcastFacts } from './facts.ts'
import { type Waits, waitRules } from './waits.ts'

/** The only document of an entity. */
export interface EntityDocument<S> extends Waits {
  /** Missing if a sweep created the document, and the entity has no events. */
  state: S
  /** The number of conversions that the state of the first release needs to get this form. Missing for 0. */
  version?: number
  /** The entity's slot in the list. */
  listed?: string
  /** The number of own events that the state has. Missing if it collects facts. */
  revision?: number
  /** Own events that are perhaps not announced: whole events, or the names of events in the state. */
  unannounced?: { event: FullEvent | string; mark: Mark }[] | undefined
  /** Hashes of the causes of own events, with the newest last. Missing if the state collects facts. */
  causes?: string[]
  /** The conversation and owner of the first own event. Missing if the state collects facts. */
  origin?: Origin
  /** The fingerprint of the request with an Idempotency-Key that created the entity. A rebuild cannot restore it. */
  requestHash?: string
  /** The number of times that a sweep has written the document. */
  visits?: number
  /** Later events of a rebuild whose predecessors are missing, in the sequence of their revisions. */
  held?: FullEvent[]
}

/** The conversation and owner of an entity. */
export type Origin = Record<'correlationId' | 'traceId', string> & Partial<Record<'tenant' | 'user', string>>

/** An own event of a document. The mark is empty for an event that is announced again. */
export type Entry = { event: FullEvent; mark: Mark }

// biome-ignore lint/suspicious/noExplicitAny: the runtime of an entity treats all declarations alike
export type AnyDefinition<S, V> = EntityDefinition<S, V, any, any, any, any, any, any>

/** The number of causes that an entity remembers. docs/guarantees.md names it. */
export const maxCauses = 1_000

/** The number of events that wait for a missing predecessor. More than a bulk publication has, because only one that failed can change the sequence. */
const maxHeld = 1_000

/** Returns a short text for a cause, so that a document stays small. */
const causeHash = (id: string): string => hash('sha1', id, 'base64url').slice(0, 11)

/** Returns the key of an entity's document, without the prefix of the tenant. */
export const documentKey = (name: string, id: string): string => `${name}/${id}`

/** Returns the parts of an id, without a missing tenant. Two tenants may use the same id or key for different things. */
export const withTenant = ({ id }: Pick<Tenant, 'id'>, parts: string[]): string[] => (id ? [...parts, id] : parts)

type Bookkeeping<S> = Pick<EntityDocument<S>, 'revision' | 'causes' | 'origin'>

/** The rules for reading an entity's document, and for adding events to it, for one declaration. All functions are pure. */
export function documentRules<S, V>(definition: AnyDefinition<S, V>) {
  const { initial, facts, upcast: upcasts = [] } = definition
  const { deadlinesOf, callsOf, waiting } = waitRules(definition)
  const version = upcasts.length > 0 ? { version: upcasts.length } : {}
  const types = new Map((definition.events as string[]).map((type) => [type.split('@', 1)[0] as string, type]))
  const evolvers = (definition.evolve ?? {}) as Record<string, (state: S, event: FullEvent) => S>
  const factsIn = (state: S) => state as unknown as Record<string, FullEvent | undefined>
  const ownFactsIn = (state: S) => [...types.keys()].flatMap((event) => factsIn(state)[event] ?? [])

  /** Returns a document with a state in its newest form. @throws {SidecarError} if a later release has written it; other replicas can handle it */
  function withState(document: Partial<EntityDocument<S>>): EntityDocument<S> {
    if (document.state === undefined) return { ...document, state: initial, ...version }
    const { version: known = 0, state } = document
    if (known === upcasts.length) return document as EntityDocument<S>
    if (known > upcasts.length)
      throw new SidecarError(
        'read state',
        `the state of this ${definition.name} was written by a later release of the service`,
      )
    return {
      ...document,
      state: upcasts.slice(known).reduce<S>((earlier, convert) => convert(earlier), state),
      ...version,
    }
  }

  const stateIn = (document: EntityDocument<S> | undefined): S => {
    if (!document) return initial
    return facts ? upcastFacts(document.state) : document.state
  }

  /** Adds a received event to the facts. @param arrivedAt the time at which the log got an event of another publisher */
  const collected = (state: S, event: FullEvent, arrivedAt: number | undefined): S => {
    if (!facts) return state
    return collect(facts, state as Facts<EventName>, factOf(event, arrivedAt)) as unknown as S
  }

  /** Adds an own event to the state, in its newest version. */
  function evolved(state: S, own: FullEvent): S {
    const event = upcast(own as FullEvent<EventName>) as FullEvent
    if (facts) return collect(facts, state as Facts<EventName>, event) as unknown as S
    return evolvers[event.Name]?.(state, event) ?? state
  }

  function originIn(document: EntityDocument<S> | undefined): Origin | undefined {
    if (!facts || !document) return document?.origin
    const [first] = ownFactsIn(document.state).toSorted((one, other) => (isEarlier(one, other) ? -1 : 1))
    return first && originOf(first)
  }

  function entriesIn(document: EntityDocument<S> | undefined): Entry[] {
    const entries = document?.unannounced ?? []
    // Only facts are stored as names. A busy entity has many entries.
    if (!facts) return entries as Entry[]
    return entries.flatMap(({ event, mark }) => {
      const whole = typeof event === 'string' ? factsIn((document as EntityDocument<S>).state)[event] : event
      return whole ? [{ event: whole, mark }] : []
    })
  }

  function knowsCause(document: EntityDocument<S> | undefined, causeId: string): boolean {
    if (!document) return false
    if (!facts) return document.causes?.includes(causeHash(causeId)) ?? false
    return ownFactsIn(document.state).some((fact) => causeIn(fact) === causeId)
  }

  /** Returns the bookkeeping of a document that gets an own event. */
  function recorded({ revision = 0, causes = [], origin }: Bookkeeping<S>, event: FullEvent): Bookkeeping<S> {
    const cause = causeHash(causeIn(event) as string)
    return {
      revision: revision + 1,
      causes: causes.at(-1) === cause || causes.includes(cause) ? causes : [...causes.slice(1 - maxCauses), cause],
      origin: origin ?? originOf(event),
    }
  }

  /** Returns the entries as they are stored in a document with this state; undefined if there are none. */
  function storedEntries(state: S, entries: Entry[]): EntityDocument<S>['unannounced'] {
    if (entries.length === 0) return undefined
    if (!facts) return entries
    return entries.map(({ event, mark }) => {
      const fact = factsIn(state)[event.Name]
      const isFact = fact?.Id === event.Id && fact.Version === event.Version
      return { event: isFact ? event.Name : event, mark }
    })
  }

  /** Returns the document with the events that a rebuild held back, because their predecessors are no longer in the log. */
  function released(stored: EntityDocument<S> | undefined): EntityDocument<S> | undefined {
    if (!stored?.held) return stored && withState(stored)
    const { held, ...rest } = stored
    return held.reduce<EntityDocument<S>>(restored, withState(rest))
  }

  /** Returns the document with its next own event from the log. */
  function restored(document: EntityDocument<S>, event: FullEvent): EntityDocument<S> {
    const revision = (revisionIn(event) as number) - 1
    return { ...document, state: evolved(document.state, event), ...recorded({ ...document, revision }, event) }
  }

  /**
   * Adds an own event from the log, in the sequence of the revisions. It decides nothing. An event whose predecessor is missing waits in the document.
   * Returns the document if it changed; otherwise undefined.
   */
  function refold(stored: EntityDocument<S> | undefined, event: FullEvent): EntityDocument<S> | undefined {
    const revision = revisionIn(event) as number
    const { held = [], ...document } = withState(stored ?? {})
    const isKnown = revision <= (document.revision ?? 0) || held.some((one) => revisionIn(one) === revision)
    if (isKnown) return undefined
    const waiting = [...held, event].toSorted((a, b) => (revisionIn(a) as number) - (revisionIn(b) as number))
    let next: EntityDocument<S> = document
    while (waiting[0] && (revisionIn(waiting[0]) === (next.revision ?? 0) + 1 || waiting.length > maxHeld))
      next = restored(next, waiting.shift() as FullEvent)
    return waiting.length > 0 ? { ...next, held: waiting } : next
  }

  /** Returns the document with the deadlines and calls of its state. */
  const timed = (document: EntityDocument<S>, now: Date): EntityDocument<S> => waiting(document, stateIn(document), now)

  /**
   * Returns the document with the deadlines and calls that this release declares for its state; undefined if it has them, or has no state. Events that a
   * rebuild holds back stay in it, because the rebuild may be running.
   */
  function retimed(stored: EntityDocument<S> | undefined, now: Date): EntityDocument<S> | undefined {
    if (stored?.state === undefined) return undefined
    const next = timed(withState(stored), now)
    return isDeepStrictEqual([next.deadlines, next.calls], [stored.deadlines, stored.calls]) ? undefined : next
  }

  const currentState = (document: EntityDocument<S> | undefined): S => stateIn(released(document))

  /** Returns what readers see; undefined for an entity without events. */
  const shown = (document: EntityDocument<S> | undefined, id: string): V | undefined =>
    document?.state === undefined ? undefined : definition.view(currentState(document), id)

  return {
    types,
    version,
    factsIn,
    stateIn,
    collected,
    evolved,
    originIn,
    entriesIn,
    storedEntries,
    knowsCause,
    recorded,
    released,
    refold,
    deadlinesOf,
    callsOf,
    timed,
    retimed,
    currentState,
    shown,
  }
}

/** Returns the number of an event among the own events of its entity; undefined for other events. */
export function revisionIn({ Headers }: Pick<FullEvent, 'Headers'>): number | undefined {
  const revision = (Headers as Record<string, unknown> | undefined)?.Revision
  return Number.isSafeInteger(revision) && (revision as number) > 0 ? (revision as number) : undefined
}

const originOf = ({ CorrelationId, TraceId, TenantID, TenantUserID }: FullEvent): Origin => ({
  correlationId: CorrelationId,
  traceId: TraceId,
  ...(TenantID && { tenant: TenantID }),
  ...(TenantUserID && { user: TenantUserID }),
})
