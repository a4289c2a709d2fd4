import { hash } from 'node:crypto'
import {
  createEnvelope,
  deterministicId,
  type EventName,
  type FullEvent,
  type Tenant,
  tenantOf,
  upcast,
} from '@orderflow/envelope'
import type { Mark } from '../state/registers.ts'
import { type Decision, type DecisionContext, type EntityDefinition, keyReused } from './entity.ts'
import { causeIn, collect, type Facts, factOf, isEarlier, upcastFacts } from './facts.ts'

/** The only document of an entity. */
export interface EntityDocument<S> {
  /** Missing if a sweep created the document, and the entity has no events. */
  state: S
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

interface Origin {
  correlationId: string
  traceId: string
  tenant?: string
  user?: string
}

/** The event or request that may change an entity. */
export interface Change<S> {
  id: string
  /** The name of the event or command. */
  kind: string
  tenant: Tenant
  /** The Id of the event, or the id that derives from the Idempotency-Key; undefined for another request. */
  causeId: string | undefined
  correlationId?: string | undefined
  traceId?: string | undefined
  /** The event that `facts` collects, or from which a rebuild restores the entity. */
  event?: FullEvent | undefined
  decide?: ((state: S, context: DecisionContext) => Decision<EventName>) | undefined
  isRequest: boolean
  /** True if the request creates the entity. */
  isCreation?: boolean
  /** The fingerprint of the input of a request with an Idempotency-Key. */
  request?: string | undefined
  /** True if a repetition of the event or request leads to the same change. */
  isRepeatable: boolean
  /** The time of the first decision. If the decision runs again, for example after a conflict, time and ids stay the same. */
  now: Date
  /** Returns the new id with this number. */
  newId: (index: number) => string
}

/** An own event of a document. The mark is empty for an event that is announced again. */
export interface Entry {
  event: FullEvent
  mark: Mark
}

/** The result of a change. */
export interface Step<S> {
  /** The new document, still without its slot; undefined if the old one stays. */
  document: EntityDocument<S> | undefined
  state: S
  /** The own events that the decision made. */
  fresh: Entry[]
  /** The own events to announce, in their sequence. */
  announce: Entry[]
  /** True if the entity's state changed. */
  isChanged: boolean
  /** The error that the decision threw. */
  refusal?: { error: unknown }
}

export interface Surroundings {
  app: { id: string; name: string }
  /** Returns the mark of an event that the step stores. */
  mark(): Mark
  isAnnounced(entry: Entry): boolean
}

// biome-ignore lint/suspicious/noExplicitAny: the runtime of an entity treats all declarations alike
export type AnyDefinition<S, V> = EntityDefinition<S, V, any, any, any, any>

/** The number of causes that an entity remembers. docs/guarantees.md names it. */
export const maxCauses = 1_000

/** The number of events that wait for a missing predecessor. More than a bulk publication has, because only one that failed can change the sequence. */
const maxHeld = 1_000

/** Returns a short text for a cause, so that a document stays small. */
const causeHash = (id: string): string => hash('sha1', id, 'base64url').slice(0, 11)

/** Returns the parts of an id, without a missing tenant. Two tenants may use the same id or key for different things. */
export const withTenant = ({ id }: Pick<Tenant, 'id'>, parts: string[]): string[] => (id ? [...parts, id] : parts)

/** The rules of an entity's document, for one declaration. All functions are pure. */
export function rulesOf<S, V>(definition: AnyDefinition<S, V>) {
  const { name, initial, facts } = definition
  const types = new Map((definition.events as string[]).map((type) => [type.split('@', 1)[0] as string, type]))
  const evolvers = (definition.evolve ?? {}) as Record<string, (state: S, event: FullEvent) => S>
  const isOwn = (event: string): boolean => types.has(event)
  const factsIn = (state: S) => state as unknown as Record<string, FullEvent | undefined>

  const withState = (document: Partial<EntityDocument<S>>): EntityDocument<S> =>
    document.state === undefined ? { ...document, state: initial } : (document as EntityDocument<S>)

  const stateIn = (document: EntityDocument<S> | undefined): S => {
    if (!document) return initial
    return facts ? upcastFacts(document.state) : document.state
  }

  /** Adds a received event to the facts. */
  const collected = (state: S, event: FullEvent): S =>
    facts ? (collect(facts, state as Facts<EventName>, factOf(event)) as unknown as S) : state

  /** Adds an own event to the state, in its newest version. */
  function evolved(state: S, own: FullEvent): S {
    const event = upcast(own as FullEvent<EventName>) as FullEvent
    if (facts) return collect(facts, state as Facts<EventName>, event) as unknown as S
    return evolvers[event.Name]?.(state, event) ?? state
  }

  function originIn(document: EntityDocument<S> | undefined): Origin | undefined {
    if (!facts || !document) return document?.origin
    const own = [...types.keys()].flatMap((event) => factsIn(document.state)[event] ?? [])
    const first = own.reduce<FullEvent | undefined>(
      (one, other) => (one && !isEarlier(other, one) ? one : other),
      undefined,
    )
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

  /** Returns what distinguishes own events of the same name. With facts, such an event occurs once. */
  const occurrence = (cause = '', revision = 0): string[] => (facts ? [] : [cause, String(revision)])

  /** Returns the Id of an own event. */
  function eventId(id: string, event: string, tenant: Pick<Tenant, 'id'>, distinction: string[]): string {
    const parts = [id, event, ...distinction]
    // biome-ignore lint/plugin/no-spread-arguments: an id has at most five parts
    return deterministicId('event', ...(definition.hasGlobalIds && facts ? parts : withTenant(tenant, parts)))
  }

  function knowsCause(document: EntityDocument<S> | undefined, causeId: string): boolean {
    if (!document) return false
    if (!facts) return document.causes?.includes(causeHash(causeId)) ?? false
    return [...types.keys()].some((event) => {
      const fact = factsIn(document.state)[event]
      return fact !== undefined && causeIn(fact) === causeId
    })
  }

  /** Returns the bookkeeping of a document that gets an own event. */
  function recorded(
    before: Pick<EntityDocument<S>, 'revision' | 'causes' | 'origin'>,
    event: FullEvent,
  ): Pick<EntityDocument<S>, 'revision' | 'causes' | 'origin'> {
    const { revision = 0, causes = [], origin = originOf(event) } = before
    const cause = causeHash(causeIn(event) as string)
    return {
      revision: revision + 1,
      causes: causes.at(-1) === cause || causes.includes(cause) ? causes : [...causes.slice(1 - maxCauses), cause],
      origin,
    }
  }

  /**
   * Returns an own event in place of another publisher's event with the same name. It depends only on that event, so each announcement has the same
   * content.
   */
  const ownCopy = (type: EventName, id: string, other: FullEvent, app: Surroundings['app']): FullEvent =>
    createEnvelope({
      ...{ app, type, id, correlationId: other.CorrelationId, traceId: other.TraceId, tenant: tenantOf(other) },
      ...{ creationDate: new Date(other.CreationDate), payload: other.Payload as never },
    }) as FullEvent

  /** Returns the envelopes of a decision, and adds them to the document. */
  function made(
    next: EntityDocument<S>,
    stored: EntityDocument<S> | undefined,
    outputs: Decision<EventName>,
    change: Change<S>,
    newId: () => string,
    { app, mark }: Surroundings,
  ) {
    const { id, tenant: caller, now, causeId } = change
    const origin = originIn(stored)
    const traceId = change.traceId ?? origin?.traceId ?? newId()
    const owner = origin && { id: origin.tenant ?? '', userId: origin.user ?? '' }
    // The user of a request is the caller. The consequences of an event belong to the owner of the entity.
    const tenant = change.isRequest ? { id: caller.id || (owner?.id ?? ''), userId: caller.userId } : (owner ?? caller)
    const correlationId = change.correlationId ?? origin?.correlationId ?? traceId
    const [fresh, again]: [Entry[], Entry[]] = [[], []]
    for (const [event, payload] of listOf(outputs).flatMap((output) => Object.entries(output))) {
      const type = types.get(event) as EventName | undefined
      if (type === undefined) throw new Error(`${event} is not an event of the entity ${name}`)
      if (payload === undefined) continue
      const known = facts && factsIn((stored ?? next).state)[event]
      if (known) {
        const own = known.AppId === app.id ? known : ownCopy(type, eventId(id, event, tenant, [known.Id]), known, app)
        again.push({ event: own, mark: '' })
      }
      if (known || (facts && factsIn(next.state)[event])) continue
      const revision = facts ? undefined : (next.revision ?? 0) + 1
      const envelope = createEnvelope({
        app,
        type,
        id: eventId(id, event, tenant, occurrence(causeId, revision)),
        correlationId,
        traceId,
        tenant,
        creationDate: now,
        headers: headersOf(causeId, revision),
        payload: payload as never,
      }) as FullEvent
      next.state = evolved(next.state, envelope)
      if (!facts) Object.assign(next, recorded(next, envelope))
      if (change.isCreation && change.request !== undefined) next.requestHash = change.request
      fresh.push({ event: envelope, mark: mark() })
    }
    return { fresh, again }
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

  /** Returns true if the entity announced the event. Other applications could use its name and AppId. */
  function isAnnouncedBy(appId: string, id: string, event: FullEvent): boolean {
    const [cause, revision] = [causeIn(event), revisionIn(event)]
    if (event.AppId !== appId || (!facts && (cause === undefined || revision === undefined))) return false
    return event.Id === eventId(id, event.Name, tenantOf(event), occurrence(cause, revision))
  }

  /** Decides, and returns the resulting document. The stored document is not changed. */
  function step(known: EntityDocument<S> | undefined, change: Change<S>, surroundings: Surroundings): Step<S> {
    if (change.event && !facts) {
      const document = refold(known, change.event)
      return { document, state: currentState(document), fresh: [], announce: [], isChanged: document !== undefined }
    }
    const stored = released(known)
    const before = stateIn(stored)
    const entries = entriesIn(stored)
    const open = entries.some(surroundings.isAnnounced)
      ? entries.filter((entry) => !surroundings.isAnnounced(entry))
      : entries
    const { causeId, event, decide, isRequest } = change
    try {
      const isRepeated = repeats(stored, change)
      let count = 0
      const newId = () => change.newId(count++)
      const outputs = isRepeated ? undefined : decide?.(before, { id: change.id, now: change.now, newId })
      const state = event ? collected(before, event) : before
      const next: EntityDocument<S> = { ...stored, state }
      const { fresh, again } = made(next, stored, outputs, change, newId, surroundings)
      const isChanged = fresh.length > 0 || next.state !== before
      const isCause = ({ event: own }: Entry) => causeId !== undefined && causeIn(own) === causeId
      const isAnnouncing = isRequest || fresh.length + again.length > 0 || open.some(isCause)
      return {
        document: isChanged ? { ...next, unannounced: storedEntries(next.state, [...open, ...fresh]) } : undefined,
        state: next.state,
        fresh,
        announce: isAnnouncing ? [...open, ...again, ...fresh] : [],
        isChanged,
      }
    } catch (error) {
      return {
        ...{ document: undefined, state: before, fresh: [], isChanged: false },
        ...{ announce: isRequest ? open : [], refusal: { error } },
      }
    }
  }

  /** Returns true if an earlier change had the same cause. @throws {Refused} `idempotency-key-reused` if its input was another one */
  function repeats(
    document: EntityDocument<S> | undefined,
    { id, causeId, isRequest, isCreation, request }: Change<S>,
  ): boolean {
    const isKnown = isCreation && request !== undefined && document?.requestHash !== undefined
    if (isKnown && document.requestHash !== request) throw keyReused(name, id)
    return isKnown || (causeId !== undefined && (isRequest || !facts) && knowsCause(document, causeId))
  }

  const currentState = (document: EntityDocument<S> | undefined): S => stateIn(released(document))

  /** Returns what readers see; undefined for an entity without events. */
  const shown = (document: EntityDocument<S> | undefined, id: string): V | undefined =>
    document?.state === undefined ? undefined : definition.view(currentState(document), id)

  const reading = { currentState, shown, entriesIn, knowsCause, isAnnouncedBy }
  return { names: [...types.keys()], isOwn, ...reading, step }
}

/** Returns the headers of an own event; undefined if it has none. */
const headersOf = (cause: string | undefined, revision: number | undefined) =>
  cause === undefined ? undefined : { CausationId: cause, ...(revision !== undefined && { Revision: revision }) }

/** Returns the number of an event among the own events of its entity; undefined for other events. */
function revisionIn({ Headers }: Pick<FullEvent, 'Headers'>): number | undefined {
  const revision = (Headers as Record<string, unknown> | undefined)?.Revision
  return Number.isSafeInteger(revision) && (revision as number) > 0 ? (revision as number) : undefined
}

const originOf = ({ CorrelationId, TraceId, TenantID, TenantUserID }: FullEvent): Origin => ({
  correlationId: CorrelationId,
  traceId: TraceId,
  ...(TenantID && { tenant: TenantID }),
  ...(TenantUserID && { user: TenantUserID }),
})

function listOf(outputs: Decision<EventName>): object[] {
  if (!outputs) return []
  return Array.isArray(outputs) ? outputs : [outputs]
}
