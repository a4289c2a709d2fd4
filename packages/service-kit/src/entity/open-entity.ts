import { type EventName, type FullEvent, type Tenant, tenantOf, upcast } from '@orderflow/envelope'
import { isFromOutside, topicOfEvent } from '@orderflow/envelope/kafka'
import { isKnownTime } from '@orderflow/kafka-log'
import type { CallTarget } from '../calls/target.ts'
import type { Fire } from '../state/deadlines/firing.ts'
import { callIn } from '../state/deadlines/index-names.ts'
import type { Load, Page, PageOptions } from '../state/list-page.ts'
import type { Handlers, Reactions } from '../stream/consuming/event-handler.ts'
import { isInfrastructure } from '../stream/dead-letters/fault.ts'
import { handled } from '../telemetry/context.ts'
import { createCalls } from './calls.ts'
import { causedBy, createChanges, documentBytes, idSource, passOn } from './changes.ts'
import type { EntityContext, EntityDeadlines } from './context.ts'
import { createDeadlines } from './deadlines.ts'
import { type AnyDefinition, documentKey, type EntityDocument } from './document.ts'
import { type EntityDefinition, type OwnType, Refused, type RequestContext } from './entity.ts'
import { causeIn, createRecentFacts } from './facts.ts'
import { callAnswered, deadlinePassed } from './kit-events.ts'
import { createRequestKeys, fingerprintOf } from './request-keys.ts'
import { createSchedules } from './schedules.ts'
import { type Change, rulesOf } from './step.ts'
import { unfiredIn } from './waits.ts'

/** The result of a command. */
export interface Done<V> {
  /** The id of the entity. */
  id: string
  view: V
  /** False if the events are in the log, but the store does not answer. Readers see them when they arrive from the log. */
  isStored: boolean
}

/** The entities of a declaration, in the service's store. */
export interface Entity<S, V, C extends object> {
  readonly name: string
  /** The names of the events that it publishes. */
  readonly events: readonly string[]
  /** Lets a deadline pass, or makes a call; undefined for an entity without both. */
  readonly fire: Fire | undefined
  /** The schedules; undefined for an entity without any. */
  readonly schedules:
    | {
        /** The first part of the keys of their documents, which `announceStored` accepts, too. */
        readonly name: string
        /** Announces the times that have passed. The service calls it every second. @param time the time of the log */
        pass(time: Date): Promise<void>
      }
    | undefined
  /** The deadlines for operators; undefined for an entity without deadlines. */
  readonly deadlines: EntityDeadlines | undefined
  readonly reactions: Reactions<boolean>
  readonly rebuild: Reactions<boolean>
  /** The deadlines and calls of stored entities, after a release that changed them: each event gives its entity the present ones. Decides nothing. */
  readonly retime: Reactions<boolean>
  /**
   * The commands. A command resolves when its events are stored and in the log. A repeated request with the same Idempotency-Key is decided again only
   * if the first one led to no event.
   * @param id the id of the entity; undefined for a new entity, whose id derives from the Idempotency-Key
   * @throws {UncertainError} if the events are stored, and it is unknown whether they are in the log
   */
  readonly do: {
    readonly [K in keyof C]: (id: string | undefined, input: C[K], context: RequestContext) => Promise<Done<V>>
  }
  /** Returns the id of the entity that a request with this Idempotency-Key creates, or a new id without a key. */
  idOf(context: Pick<RequestContext, 'idempotencyKey'> & { tenant?: Tenant }): string
  /**
   * Announces the events of a document that are perhaps not announced. Before, it makes earlier writes fail that the store has not executed yet.
   * @param key the full key, with the prefix of the tenant
   */
  announceStored(key: string): Promise<void>
  get(tenant: Pick<Tenant, 'id'>, id: string): Promise<V | undefined>
  state(tenant: Pick<Tenant, 'id'>, id: string): Promise<S>
  /** Returns a page of the entities that readers see, with the newest arrival first. */
  page(tenant: Pick<Tenant, 'id'>, options: PageOptions): Promise<Page<V>>
}

/**
 * Creates the entities of a declaration: their reactions, rebuild, commands and reads.
 * @param targets the systems that the entities call, by the names in `calls`
 */
export function openEntity<
  S,
  V,
  T extends OwnType,
  F extends EventName,
  O extends EventName,
  C extends object,
  D extends string,
  L extends string,
>(
  definition: EntityDefinition<S, V, T, F, O, C, D, L>,
  context: EntityContext,
  targets: Readonly<Record<string, CallTarget>> = {},
): Entity<S, V, C> {
  const { app, documents, publish, now, newId, log } = context
  const any: AnyDefinition<S, V> = definition
  const { name, facts, on: deciders = {}, id: idOfPayload, answersRequest, view, deadlines, every, calls } = any
  const isTimed = deadlines !== undefined || every !== undefined
  const commands = Object.entries(any.commands ?? {})
  const rules = rulesOf(any)
  const changes = createChanges(any, rules, { app, documents, publish })
  const { save, run, arm, announceOpen, isOnlyAnnounced } = changes
  const { pass, fire, retime, operations } = createDeadlines(any, rules, changes, context)
  const schedules = every && createSchedules(any, changes, context)
  const calling = createCalls(any, rules, changes, context, targets)
  const recentFacts = createRecentFacts(() => documents('').generation())
  const keyOf = (id: string) => documentKey(name, id)
  const collectedNames: readonly string[] = facts?.names ?? []

  async function documentOf(tenant: Pick<Tenant, 'id'>, id: string): Promise<EntityDocument<S> | undefined> {
    const found = await documents(tenant.id).read([keyOf(id)])
    return found.get(keyOf(id))?.value as EntityDocument<S> | undefined
  }

  /** Returns the time at which the log got an event, if deadlines may depend on it. An own event has the log's time already, before the log has it. */
  function arrivalOf({ AppId }: FullEvent): number | undefined {
    const { arrivedAt } = handled() ?? {}
    return deadlines && AppId !== app.id && arrivedAt !== undefined && isKnownTime(arrivedAt) ? arrivedAt : undefined
  }

  const keys = createRequestKeys(any, rules, { appId: app.id, documents, documentOf, newId })

  async function react(event: FullEvent): Promise<boolean> {
    const isOwnFact = facts !== undefined && rules.isOwn(event.Name)
    const arrivedAt = arrivalOf(event)
    if (isOwnFact && recentFacts.has(event, arrivedAt)) return false
    const decider = deciders[event.Name]
    const change: Change<S> = {
      ...causedBy(event),
      id: idOfPayload(event.Payload),
      now: now(),
      newId: idSource(newId),
      event: collectedNames.includes(event.Name) ? event : undefined,
      arrivedAt,
      decide: decider && ((state, context) => decider(event, state, context)),
    }
    const saving = decider || deadlines || calls ? run(change) : save(change)
    passOn()
    const { isChanged } = await saving
    if (isOwnFact) recentFacts.add(event, arrivedAt)
    return isChanged
  }

  /** Returns the function that runs a command. */
  const runOf =
    ([kind, decide]: (typeof commands)[number]) =>
    async (given: string | undefined, input: unknown, context: RequestContext): Promise<Done<V>> => {
      const { tenant, idempotencyKey, traceId } = context
      const isCreation = given === undefined
      const id = given ?? keys.idOf({ tenant, idempotencyKey })
      const request = idempotencyKey === undefined ? undefined : fingerprintOf([kind, input])
      const causeId = keys.causeOf(tenant, idempotencyKey, isCreation)
      if (request !== undefined && causeId !== undefined && !isCreation)
        await keys.requireKey(tenant, causeId, id, request)
      // Events that occur once can be announced again.
      const isRepeatable = request !== undefined || (!isCreation && facts !== undefined)
      const change: Change<S> = {
        ...{ id, kind, tenant, causeId, traceId, isRequest: true, isCreation, request, isRepeatable },
        ...{ now: now(), newId: idSource(newId) },
        decide: (state, context) => decide(input, state, context),
      }
      let isStored = true
      const step = await run(change, async (_, key) => {
        try {
          return await save(change, key)
        } catch (error) {
          if (!isOnlyAnnounced(change) || !isInfrastructure(error)) throw error
          // A store that did not answer may still execute the write later. So the same decision is announced, with the same content.
          const step = rules.step(undefined, change, { app, mark: () => '', isAnnounced: () => false })
          if (!step.fresh.every(({ event }) => isFromOutside(event.Name))) throw error
          isStored = false
          log.warn({ err: error, id }, 'the store does not answer; the event is only announced, and stored later')
          return step
        }
      })
      if (facts && isStored)
        for (const { event } of step.fresh) recentFacts.add(upcast(event as FullEvent<EventName>) as FullEvent)
      return { id, view: view(step.state, id) as V, isStored }
    }

  /** Adds an event of the log to the state, and decides nothing. @throws {Refused} `foreign-<name>` for an own event of another publisher */
  async function restore(event: FullEvent): Promise<boolean> {
    const [tenant, id] = [tenantOf(event), idOfPayload(event.Payload)]
    const isOurs = rules.isOwn(event.Name) && rules.isAnnouncedBy(app.id, id, event)
    if (rules.isOwn(event.Name) && !isOurs && !isFromOutside(event.Name))
      throw new Refused(`foreign-${name}`, `this service did not announce the ${name}`)
    const cause = causeIn(event)
    if (isOurs && cause !== undefined && answersRequest?.(event)) await keys.claim(tenant, cause, id)
    return (await save({ ...fixed, id, kind: event.Name, tenant, event, arrivedAt: arrivalOf(event) })).isChanged
  }

  const load: Load<V> = async (ids, read) => {
    const found = await read(ids.map(keyOf))
    return ids.map((id) => {
      const document = found.get(keyOf(id))?.value as EntityDocument<S> | undefined
      const item = rules.shown(document, id)
      return item === undefined ? undefined : { item, listed: document?.listed }
    })
  }

  const own = [...rules.names]
  const collected = facts ? [...own.filter((event) => collectedNames.includes(event)), ...collectedNames] : own
  const isReceived = (event: string) => !rules.isOwn(event) || isFromOutside(event)
  const received = [...Object.keys(deciders), ...collectedNames].filter(isReceived)
  return {
    name,
    events: [...own, ...(isTimed ? [deadlinePassed] : []), ...(calls ? [callAnswered] : [])],
    fire:
      (deadlines ?? calls) && ((entry, isDoubtful) => (callIn(entry.name) ? calling.fire : fire)(entry, isDoubtful)),
    deadlines: deadlines && operations,
    schedules,
    reactions: {
      ...byTopic(received, react),
      ...(isTimed && byTopic([deadlinePassed], pass)),
      ...(calls && byTopic([callAnswered], calling.decide)),
    },
    rebuild: { ...byTopic(collected, restore), ...(schedules && byTopic([deadlinePassed], schedules.restore)) },
    retime: byTopic((deadlines ?? calls) ? collected : [], retime),
    do: Object.fromEntries(commands.map((one) => [one[0], runOf(one)])) as Entity<S, V, C>['do'],
    idOf: keys.idOf,
    async get(tenant, id) {
      const [found] = await load([id], documents(tenant.id).read)
      return found?.item
    },
    async announceStored(key) {
      const document = await documents('').change({
        key,
        bytes: documentBytes,
        arms: (deadlines ?? calls) !== undefined,
        decide(stored) {
          // The write changes the document and its etag, or creates it without a state. So the guard of each earlier write fails.
          const known = stored.get<EntityDocument<S>>(key)
          stored.write({ ...known, visits: (known?.visits ?? 0) + 1 })
          // If an earlier write came late, its deadlines and calls may already have left the index.
          arm(stored, key, unfiredIn(known))
          return known
        },
      })
      await announceOpen(key, rules.entriesIn(document))
    },
    state: async (tenant, id) => rules.currentState(await documentOf(tenant, id)),
    page: (tenant, options) => documents(tenant.id).page(options, load),
  }
}

/** The parts of a change that decides nothing. */
const fixed = {
  ...{ causeId: undefined, decide: undefined, isRequest: false, isRepeatable: true },
  ...{ now: new Date(0), newId: () => '' },
}

function byTopic(names: readonly string[], handle: (event: FullEvent) => Promise<boolean>): Reactions<boolean> {
  const topics = Map.groupBy(new Set(names), (event) => topicOfEvent(event) as string)
  const handlers = (events: string[]) => Object.fromEntries(events.map((event) => [event, handle])) as Handlers<boolean>
  return Object.fromEntries(Array.from(topics, ([topic, events]) => [topic, handlers(events)]))
}
