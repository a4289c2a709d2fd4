import { type EventName, type FullEvent, type Tenant, tenantOf, upcast } from '@orderflow/envelope'
import { isFromOutside, topicOfEvent } from '@orderflow/envelope/kafka'
import { UncertainError } from '../sidecar/sidecar.ts'
import type { DocumentsOf } from '../state/documents.ts'
import type { Load, Page, PageOptions } from '../state/list-page.ts'
import type { Handlers, Reactions } from '../stream/consuming/event-handler.ts'
import { isInfrastructure } from '../stream/dead-letters/fault.ts'
import { type Publish, requirePublishable } from '../stream/publishing/publish.ts'
import { handled } from '../telemetry/context.ts'
import type { Logger } from '../telemetry/log.ts'
import { createAnnounce } from './announcements.ts'
import { type AnyDefinition, documentKey, type EntityDocument, type Entry } from './document.ts'
import { type EntityDefinition, type OwnType, Refused, type RequestContext } from './entity.ts'
import { causeIn, createRecentFacts } from './facts.ts'
import { createRequestKeys, fingerprintOf } from './request-keys.ts'
import { type Change, rulesOf, type Step } from './step.ts'

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
  readonly reactions: Reactions<boolean>
  readonly rebuild: Reactions<boolean>
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

export interface EntityContext {
  /** The AppId and AppName of the service's events. */
  app: { id: string; name: string }
  documents: DocumentsOf
  publish: Publish
  now: () => Date
  newId: () => string
  log: Pick<Logger, 'warn'>
}

/** Creates the entities of a declaration: their reactions, rebuild, commands and reads. */
export function openEntity<S, V, T extends OwnType, F extends EventName, O extends EventName, C extends object>(
  definition: EntityDefinition<S, V, T, F, O, C>,
  { app, documents, publish, now, newId, log }: EntityContext,
): Entity<S, V, C> {
  const any: AnyDefinition<S, V> = definition
  const { name, facts, on: deciders = {}, id: idOfPayload, answersRequest, view } = any
  const commands = Object.entries(any.commands ?? {})
  const rules = rulesOf(any)
  const announcing = () => documents('').announcing
  const announce = createAnnounce(publish, (key, events) => announcing().announced(key, events))
  const recentFacts = createRecentFacts(() => documents('').generation())
  const keyOf = (id: string) => documentKey(name, id)
  const collectedNames: readonly string[] = facts?.names ?? []
  /** True if a reaction stores an own event that is only in the log. */
  const canArriveLater = facts !== undefined && rules.names.every(isFromOutside)
  /** Returns true if the events of a change are announced although the store does not answer. */
  const isOnlyAnnounced = ({ isRepeatable }: Change<S>) => canArriveLater && !isRepeatable

  async function documentOf(tenant: Pick<Tenant, 'id'>, id: string): Promise<EntityDocument<S> | undefined> {
    const found = await documents(tenant.id).read([keyOf(id)])
    return found.get(keyOf(id))?.value as EntityDocument<S> | undefined
  }

  const keys = createRequestKeys(any, rules, { appId: app.id, documents, documentOf, newId })

  /** Announces the entries that are perhaps not announced. */
  async function announceOpen(key: string, entries: readonly Entry[]): Promise<void> {
    const open = await announcing().open(key, entries)
    const events = open.map(({ event }) => event)
    if (events.length > 0) await announce(key, events)
  }

  /** Decides, and saves the new state together with its events. The caller announces them. */
  function save(change: Change<S>, key = keyOf(change.id)): Promise<Step<S>> {
    const { id, tenant } = change
    const own = documents(tenant.id)
    const fullKey = own.fullKey(key)
    return own.change({
      key,
      kind: change.kind,
      bytes: documentBytes,
      announces: change.decide !== undefined,
      run: handled()?.run,
      decide(stored) {
        const known = stored.get<EntityDocument<S>>(key)
        const isAnnounced = (entry: Entry) => announcing().isAnnounced(fullKey, entry)
        const step = rules.step(known, change, { app, mark: stored.mark, isAnnounced })
        const { document } = step
        // Later events of the key must not be handled before the dead letter of this one.
        if (step.refusal && !change.isRequest) throw step.refusal.error
        if (!document) return step
        for (const { event } of step.fresh) requirePublishable(event)
        for (const entry of step.fresh) announcing().note(fullKey, entry)
        const isListed = document.listed !== undefined || view(step.state, id) === undefined
        stored.write(isListed ? document : { ...document, listed: stored.list(id) })
        return step
      },
    })
  }

  /** Saves a change, and announces its events. After a refusal of a request, it announces what earlier requests left. */
  async function run(change: Change<S>, saveChange = save): Promise<Step<S>> {
    // Equal keys share one string, whose hash V8 then computes once.
    const key = keyOf(change.id)
    const fullKey = documents(change.tenant.id).fullKey(key)
    const end = announcing().begin(fullKey, !isOnlyAnnounced(change))
    let step: Step<S> | undefined
    try {
      step = await saveChange(change, key)
      if (step.announce.length > 0) await announceOpen(fullKey, step.announce)
    } catch (error) {
      const failure = step && change.isRequest && isInfrastructure(error) ? uncertain(change, error) : error
      end(failure)
      throw failure
    }
    end()
    if (step.refusal) throw step.refusal.error
    return step
  }

  function uncertain({ id, isRepeatable }: Change<S>, cause: unknown): UncertainError {
    const retry = isRepeatable
      ? 'Send the request again until it succeeds.'
      : 'Look for it in a moment. Next time, send an Idempotency-Key to make retries safe.'
    const details = { [`${name}Id`]: id }
    return new UncertainError(`It is not known whether the event reached the log. ${retry}`, { details, cause })
  }

  async function react(event: FullEvent): Promise<boolean> {
    const isOwnFact = facts !== undefined && rules.isOwn(event.Name)
    if (isOwnFact && recentFacts.has(event)) return false
    const { Name: kind, Id: causeId, CorrelationId: correlationId, TraceId: traceId } = event
    const decider = deciders[kind]
    const change: Change<S> = {
      id: idOfPayload(event.Payload),
      kind,
      tenant: tenantOf(event),
      isRequest: false,
      isRepeatable: true,
      causeId,
      correlationId,
      traceId,
      now: now(),
      newId: idSource(newId),
      event: collectedNames.includes(kind) ? event : undefined,
      decide: decider && ((state, context) => decider(event, state, context)),
    }
    const saving = decider ? run(change) : save(change)
    passOn()
    const { isChanged } = await saving
    if (isOwnFact) recentFacts.add(event)
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
          isStored = false
          log.warn({ err: error, id }, 'the store does not answer; the event is only announced, and stored later')
          return rules.step(undefined, change, { app, mark: () => '', isAnnounced: () => false })
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
    return (await save({ ...fixed, id, kind: event.Name, tenant, event })).isChanged
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
    reactions: byTopic(received, react),
    rebuild: byTopic(collected, restore),
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
        decide(stored) {
          // The write changes the document and its etag, or creates it without a state. So the guard of each earlier write fails.
          const known = stored.get<EntityDocument<S>>(key)
          stored.write({ ...known, visits: (known?.visits ?? 0) + 1 })
          return known
        },
      })
      await announceOpen(key, rules.entriesIn(document))
    },
    state: async (tenant, id) => rules.currentState(await documentOf(tenant, id)),
    page: (tenant, options) => documents(tenant.id).page(options, load),
  }
}

/** An estimate of the largest usual document, for the limits of a batch. */
const documentBytes = 8_000

/** The parts of a change that decides nothing. */
const fixed = {
  ...{ causeId: undefined, decide: undefined, isRequest: false, isRepeatable: true },
  ...{ now: new Date(0), newId: () => '' },
}

/** Lets the next event of the key begin, because the change of this one is waiting to be saved. */
function passOn(): void {
  const handling = handled()
  if (!handling?.passOn) return
  handling.isFollowed = false
  handling.passOn()
}

/** Returns a function that returns the same ids to each run of a decision. */
function idSource(newId: () => string): (index: number) => string {
  const ids: string[] = []
  return (index) => {
    ids[index] ??= newId()
    return ids[index]
  }
}

function byTopic(names: readonly string[], handle: (event: FullEvent) => Promise<boolean>): Reactions<boolean> {
  const topics = Map.groupBy(new Set(names), (event) => topicOfEvent(event) as string)
  const handlers = (events: string[]) => Object.fromEntries(events.map((event) => [event, handle])) as Handlers<boolean>
  return Object.fromEntries(Array.from(topics, ([topic, events]) => [topic, handlers(events)]))
}
