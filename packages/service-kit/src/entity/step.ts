import { createEnvelope, type EventName, type FullEvent, type Tenant, tenantOf } from '@orderflow/envelope'
import { isFromOutside } from '@orderflow/envelope/kafka'
import type { Mark } from '../state/registers.ts'
import { type AnyDefinition, documentRules, type EntityDocument, type Entry, withTenant } from './document.ts'
import { type Decision, type DecisionContext, keyReused } from './entity.ts'
import { eventIdsOf } from './event-ids.ts'
import { causeIn } from './facts.ts'
import { deadlinePassed, kitEvent } from './kit-events.ts'
import { armedIn, attemptOf, type Deadline } from './waits.ts'

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
  /** The time at which the log got the event of another publisher, in milliseconds since 1970. */
  arrivedAt?: number | undefined
  decide?: ((state: S, context: DecisionContext) => Decision<EventName>) | undefined
  /** The deadline that has passed. It is decided only if it is still open. */
  deadline?: Deadline | undefined
  /** The call that has an outcome. It is decided also if the state no longer has the call, because its target did something. */
  call?: { name: string; attempt: string } | undefined
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

/** The result of a change. */
export interface Step<S> {
  /** The new document, still without its slot; undefined if the old one stays. */
  document: EntityDocument<S> | undefined
  state: S
  /** The own events that the decision made. */
  fresh: Entry[]
  /** The own events to announce, in their sequence. */
  announce: Entry[]
  /** The deadlines that are new or have moved. */
  armed: Deadline[]
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

export type Rules<S> = ReturnType<typeof rulesOf<S, unknown>>

/** The rules for the changes of an entity, for one declaration. All functions are pure. */
export function rulesOf<S, V>(definition: AnyDefinition<S, V>) {
  const { name, facts } = definition
  const rules = documentRules(definition)
  const { types, factsIn, stateIn, collected, evolved, entriesIn, storedEntries, knowsCause } = rules
  const { occurrence, eventId, isAnnouncedBy } = eventIdsOf(definition)
  const names = [...types.keys()]
  requireOneSource(definition, names)

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
    const origin = rules.originIn(stored)
    const traceId = change.traceId ?? origin?.traceId ?? newId()
    const owner = origin && { id: origin.tenant ?? '', userId: origin.user ?? '' }
    // The user of a request is the caller. The consequences of an event belong to the owner of the entity.
    const tenant = change.isRequest ? { id: caller.id || (owner?.id ?? ''), userId: caller.userId } : (owner ?? caller)
    const correlationId = change.correlationId ?? origin?.correlationId ?? traceId
    const [fresh, again]: [Entry[], Entry[]] = [[], []]
    for (const [event, payload] of [outputs || []].flat().flatMap((output) => Object.entries(output))) {
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
      if (!facts) Object.assign(next, rules.recorded(next, envelope))
      if (change.isCreation && change.request !== undefined) next.requestHash = change.request
      fresh.push({ event: envelope, mark: mark() })
    }
    return { fresh, again }
  }

  /** Decides, and returns the resulting document. The stored document is not changed. */
  function step(known: EntityDocument<S> | undefined, change: Change<S>, surroundings: Surroundings): Step<S> {
    if (change.event && !facts) {
      const folded = rules.refold(known, change.event)
      if (!folded) return { ...nothing, state: rules.currentState(known) }
      const document = rules.timed(folded, change.now)
      return {
        ...nothing,
        document,
        armed: armedIn(document, known),
        state: rules.currentState(document),
        isChanged: true,
      }
    }
    const stored = rules.released(known)
    const before = stateIn(stored)
    const entries = entriesIn(stored)
    const { causeId, event, decide, isRequest, deadline, call } = change
    // The event of the deadline or call has arrived from the log. Perhaps another process announced it just now.
    const hasArrived = ({ event: own }: Entry) => (deadline ?? call) !== undefined && own.Id === causeId
    const open = entries.filter((entry) => !hasArrived(entry) && !surroundings.isAnnounced(entry))
    try {
      const isRepeated = repeats(stored, change)
      let count = 0
      const newId = () => change.newId(count++)
      const isDecided = !isRepeated && (deadline === undefined || isOpen(before, deadline))
      const outputs = isDecided ? decide?.(before, { id: change.id, now: change.now, newId }) : undefined
      const state = event ? collected(before, event, change.arrivedAt) : before
      const next: EntityDocument<S> = { ...(stored ?? rules.version), state }
      const { fresh, again } = made(next, stored, outputs, change, newId, surroundings)
      if (deadline && isDecided && isOpen(next.state, deadline)) throw stillOpen('deadline', deadline.name)
      if (call && isDecided && isAwaited(next.state, call)) throw stillOpen('call', call.name)
      const isChanged = fresh.length > 0 || next.state !== before
      const isCause = ({ event: own }: Entry) => causeId !== undefined && causeIn(own) === causeId
      const isAnnouncing = isRequest || fresh.length + again.length > 0 || open.some(isCause)
      // A release with another declaration fired the deadline. Here it has another name or time, or does not exist.
      const isReplaced = deadline !== undefined && isStored(stored, deadline) && !isOpen(before, deadline)
      const document =
        isChanged || isReplaced
          ? rules.timed({ ...next, unannounced: storedEntries(next.state, [...open, ...fresh]) }, change.now)
          : undefined
      return {
        document,
        armed: document ? armedIn(document, stored) : [],
        state: next.state,
        fresh,
        announce: isAnnouncing ? [...open, ...again, ...fresh] : [],
        isChanged,
      }
    } catch (error) {
      return { ...nothing, state: before, announce: isRequest ? open : [], refusal: { error } }
    }
  }

  const isStored = (document: EntityDocument<S> | undefined, { name: deadline, at }: Deadline): boolean =>
    document?.deadlines?.[deadline]?.at === at
  const isOpen = (state: S, { name: deadline, at }: Deadline): boolean => rules.deadlinesOf(state)[deadline] === at

  const isAwaited = (state: S, { name: call, attempt }: { name: string; attempt: string }): boolean => {
    const open = rules.callsOf(state)[call]
    return open !== undefined && attemptOf(open) === attempt
  }

  /** Returns the error for a deadline or call that stays open after its decision, because it would then never be decided again. */
  const stillOpen = (kind: string, which: string): Error =>
    new Error(
      `the ${kind} ${which} of ${name} is still open after its decision: return an event that ends ${kind === 'call' ? 'it, or raises its attempt' : 'or moves it'}`,
    )

  /**
   * Lets a deadline pass: adds its event to the document. Returns undefined if the deadline was fired before, has ended or has moved. The event
   * depends only on the document and the deadline, so each announcement has the same content.
   * @param early the time at which an operator fires the deadline, before its own time. Each such event has an Id of its own
   */
  function fire(
    known: EntityDocument<S> | undefined,
    id: string,
    deadline: Deadline,
    { app, mark, early }: Pick<Surroundings, 'app' | 'mark'> & { early?: Date | undefined },
  ) {
    const stored = rules.released(known)
    if (!stored) return undefined
    // A release with another declaration may have written the document.
    const next = rules.timed(stored, new Date(deadline.at))
    if (next.deadlines?.[deadline.name]?.fired) return undefined
    if (!isStored(next, deadline))
      return isStored(stored, deadline) ? { document: next, fresh: [], armed: armedIn(next, stored) } : undefined
    const origin = rules.originIn(stored)
    // A deadline may have the same time again after its decision. Then the entity has more events.
    const distinction = [deadline.at, String(stored.revision ?? 0), ...(early ? [early.toISOString()] : [])]
    const parts = withTenant({ id: origin?.tenant ?? '' }, [app.id, name, id, deadline.name, ...distinction])
    const payload = { Entity: name, EntityId: id, Deadline: deadline.name, Due: deadline.at }
    const creationDate = early ?? new Date(deadline.at)
    const kind = early ? 'early-deadline' : 'deadline'
    const event = kitEvent(app, deadlinePassed, [kind, ...parts], payload, { creationDate, origin })
    const fresh = [{ event, mark: mark() }]
    const entries = [...entriesIn(stored), ...fresh]
    const deadlines = { ...next.deadlines, [deadline.name]: { at: deadline.at, fired: true as const } }
    return {
      document: { ...next, deadlines, unannounced: storedEntries(next.state, entries) },
      fresh,
      armed: armedIn(next, stored),
    }
  }

  /** Returns true if an earlier change had the same cause. @throws {Refused} `idempotency-key-reused` if its input was another one */
  function repeats(document: EntityDocument<S> | undefined, change: Change<S>): boolean {
    const { id, causeId, isRequest, isCreation, request } = change
    const isKnown = isCreation && request !== undefined && document?.requestHash !== undefined
    if (isKnown && document.requestHash !== request) throw keyReused(name, id)
    return isKnown || (causeId !== undefined && (isRequest || !facts) && knowsCause(document, causeId))
  }

  return { ...rules, names, isOwn: (event: string) => types.has(event), isAnnouncedBy, step, fire }
}

const nothing = { document: undefined, fresh: [], announce: [], armed: [], isChanged: false }

/** Returns the headers of an own event; undefined if it has none. */
const headersOf = (cause: string | undefined, revision: number | undefined) =>
  cause === undefined ? undefined : { CausationId: cause, ...(revision !== undefined && { Revision: revision }) }

/** @throws {Error} if the events of the state could come from others, or in another sequence */
function requireOneSource<S, V>(
  { name, events, facts, evolve, upcast }: AnyDefinition<S, V>,
  names: readonly string[],
): void {
  const wrong = facts ? undefined : names.find(isFromOutside)
  if (wrong)
    throw new Error(
      `the entity ${name} cannot evolve by ${wrong}, because other applications may publish it (services.json): use facts()`,
    )
  if (facts && evolve) throw new Error(`the entity ${name} has both facts and evolve: remove one`)
  if (facts && upcast)
    throw new Error(`the entity ${name} has both facts and upcast: schemas of events upcast its facts`)
  if (events.length === 0 && !facts) throw new Error(`the entity ${name} needs events`)
}
