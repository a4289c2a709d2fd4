import { type FullEvent, tenantOf } from '@orderflow/envelope'
import { isFromOutside } from '@orderflow/envelope/kafka'
import { UncertainError } from '../sidecar/sidecar.ts'
import type { View } from '../state/batch.ts'
import { callIn } from '../state/deadlines/index-names.ts'
import { isInfrastructure } from '../stream/dead-letters/fault.ts'
import { requirePublishable } from '../stream/publishing/publish.ts'
import { handled } from '../telemetry/context.ts'
import { createAnnounce } from './announcements.ts'
import type { EntityContext } from './context.ts'
import { type AnyDefinition, documentKey, type EntityDocument, type Entry } from './document.ts'
import type { Change, Rules, Step } from './step.ts'
import type { Deadline } from './waits.ts'

export type Changes<S> = ReturnType<typeof createChanges<S, unknown>>

/** Creates the functions that change the documents of an entity, and announce its events. */
export function createChanges<S, V>(
  { name, facts, view, deadlines, calls }: AnyDefinition<S, V>,
  rules: Rules<S>,
  { app, documents, publish }: Pick<EntityContext, 'app' | 'documents' | 'publish'>,
) {
  const announcing = () => documents('').announcing
  const announce = createAnnounce(publish, (key, events) => announcing().announced(key, events))
  /** True if a reaction stores some own events that are only in the log: those that may come from outside. */
  const canArriveLater = facts !== undefined && rules.names.some(isFromOutside)
  /** Returns true if the events of a change are announced although the store does not answer, if all of them can arrive later. */
  const isOnlyAnnounced = ({ isRepeatable }: Change<S>) => canArriveLater && !isRepeatable

  /** Announces the entries that are perhaps not announced. */
  async function announceOpen(key: string, entries: readonly Entry[]): Promise<void> {
    const open = await announcing().open(key, entries)
    const events = open.map(({ event }) => event)
    if (events.length > 0) await announce(key, events)
  }

  /** Decides, and saves the new state together with its events. The caller announces them. */
  function save(change: Change<S>, key = documentKey(name, change.id)): Promise<Step<S>> {
    const { id, tenant } = change
    const own = documents(tenant.id)
    const fullKey = own.fullKey(key)
    return own.change({
      key,
      kind: change.kind,
      bytes: documentBytes,
      announces: change.decide !== undefined,
      arms: (deadlines ?? calls) !== undefined,
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
        arm(stored, fullKey, step.armed)
        const isListed = document.listed !== undefined || view(step.state, id) === undefined
        stored.write(isListed ? document : { ...document, listed: stored.list(id) })
        return step
      },
    })
  }

  /** Saves something, and announces its events. `failureOf` returns the error of a failed announcement. */
  async function settle<R extends Pick<Step<S>, 'announce'>>(
    fullKey: string,
    isLimited: boolean,
    saving: () => Promise<R>,
    failureOf = (error: unknown) => error,
  ): Promise<R> {
    const end = announcing().begin(fullKey, isLimited)
    let saved: R | undefined
    try {
      saved = await saving()
      if (saved.announce.length > 0) await announceOpen(fullKey, saved.announce)
    } catch (error) {
      const failure = saved ? failureOf(error) : error
      end(failure)
      throw failure
    }
    end()
    return saved
  }

  /** Saves a change, and announces its events. After a refusal of a request, it announces what earlier requests left. */
  async function run(change: Change<S>, saveChange = save): Promise<Step<S>> {
    // Equal keys share one string, whose hash V8 then computes once.
    const key = documentKey(name, change.id)
    const fullKey = documents(change.tenant.id).fullKey(key)
    const failureOf = (error: unknown) =>
      change.isRequest && isInfrastructure(error) ? uncertain(change, error) : error
    const step = await settle(fullKey, !isOnlyAnnounced(change), () => saveChange(change, key), failureOf)
    if (step.refusal) throw step.refusal.error
    for (const { name, at } of step.armed)
      if (callIn(name)) documents('').firing.fireSoon({ key: fullKey, name, at: Date.parse(at) })
    return step
  }

  function uncertain({ id, isRepeatable }: Change<S>, cause: unknown): UncertainError {
    const retry = isRepeatable
      ? 'Send the request again until it succeeds.'
      : 'Look for it in a moment. Next time, send an Idempotency-Key to make retries safe.'
    const details = { [`${name}Id`]: id }
    return new UncertainError(`It is not known whether the event reached the log. ${retry}`, { details, cause })
  }

  function arm(stored: View, key: string, armed: readonly Deadline[]): void {
    for (const { name: deadline, at } of armed) stored.arm({ key, name: deadline, at: Date.parse(at) })
  }

  return { save, run, settle, arm, announceOpen, isOnlyAnnounced }
}

/** An estimate of the largest usual document, for the limits of a batch. */
export const documentBytes = 8_000

/** Returns the parts of a change that follow from its cause, an event. */
export const causedBy = (event: FullEvent) => ({
  kind: event.Name,
  tenant: tenantOf(event),
  isRequest: false,
  isRepeatable: true,
  causeId: event.Id,
  correlationId: event.CorrelationId,
  traceId: event.TraceId,
})

/** Lets the next event of the key begin, because the change of this one is waiting to be saved. */
export function passOn(): void {
  const handling = handled()
  if (!handling?.passOn) return
  handling.isFollowed = false
  handling.passOn()
}

/** Returns a function that returns the same ids to each run of a decision. */
export function idSource(newId: () => string): (index: number) => string {
  const ids: string[] = []
  return (index) => {
    ids[index] ??= newId()
    return ids[index]
  }
}
