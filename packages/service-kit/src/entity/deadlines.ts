import { type FullEvent, type Tenant, tenantOf } from '@orderflow/envelope'
import type { Fire } from '../state/deadlines/firing.ts'
import { keyIn } from '../state/spaces.ts'
import { type Changes, causedBy, documentBytes, idSource, passOn } from './changes.ts'
import type { EntityContext, EntityDeadlines, OpenDeadline } from './context.ts'
import { type AnyDefinition, documentKey, type EntityDocument } from './document.ts'
import type { DeadlinePassed } from './kit-events.ts'
import type { Change, Rules } from './step.ts'
import { armedIn, type Deadline } from './waits.ts'

/** Returns the open deadlines of a document. */
export const openIn = ({ deadlines = {} }: Pick<EntityDocument<unknown>, 'deadlines'>): OpenDeadline[] =>
  Object.entries(deadlines).map(([name, { at, fired = false }]) => ({ name, at, isFired: fired }))

/** Creates the functions that let the deadlines of an entity pass. */
export function createDeadlines<S, V>(
  { name, id: idOfPayload, onDeadline = {}, every = {} }: AnyDefinition<S, V>,
  rules: Rules<S>,
  { run, settle, arm }: Pick<Changes<S>, 'run' | 'settle' | 'arm'>,
  { app, documents, now, newId }: EntityContext,
) {
  /** Decides about a deadline or a scheduled time that has passed. */
  async function pass(event: FullEvent): Promise<boolean> {
    const { Entity, EntityId: id, Deadline, Due: at } = event.Payload as unknown as DeadlinePassed
    if (Entity !== name || event.AppId !== app.id) return false
    const decider = onDeadline[Deadline]
    const change: Change<S> = {
      ...causedBy(event),
      id,
      // This process may know an earlier time of the log than the one that fired the deadline.
      now: new Date(Math.max(now().getTime(), Date.parse(event.CreationDate))),
      newId: idSource(newId),
      // The time of a schedule is decided once, because its event is the cause of what it leads to.
      deadline: Object.hasOwn(every, Deadline) ? undefined : { name: Deadline, at },
      decide: decider && ((state, context) => decider(state, { ...context, due: new Date(at) })),
    }
    const saving = run(change)
    passOn()
    const { isChanged, armed } = await saving
    // A release that has renamed the deadline arms it under its new name. Otherwise, a later release has it.
    if (!decider && armed.length === 0)
      throw new Error(`this version of the service does not know the deadline ${Deadline} of ${name}`)
    return isChanged
  }

  /** Announces a deadline, if its document still has it, and was not fired before. */
  function announce(key: string, due: Deadline, { isDoubtful = false, early }: { isDoubtful?: boolean; early?: Date }) {
    const id = keyIn(key).slice(documentKey(name, '').length)
    const { announcing } = documents('')
    const saving = () =>
      documents('').change({
        key,
        kind: 'fire',
        bytes: documentBytes,
        announces: true,
        arms: true,
        decide(stored) {
          const known = stored.get<EntityDocument<S>>(key)
          const before = openIn(known ?? {}).find(({ name, at }) => name === due.name && at === due.at)
          const fired = rules.fire(known, id, due, { app, mark: stored.mark, early })
          // MongoDB stores the index before the document. If the document comes later, its guard must fail, because the deadline leaves the index now.
          if (!fired && isDoubtful) stored.write({ ...known, visits: (known?.visits ?? 0) + 1 })
          if (!fired) return { announce: [], before }
          stored.write(fired.document)
          for (const entry of fired.fresh) announcing.note(key, entry)
          arm(stored, key, fired.armed)
          return { announce: fired.fresh.length > 0 ? rules.entriesIn(fired.document) : [], before }
        },
      })
    return settle(key, true, saving)
  }

  /** Announces a deadline. Returns true if it did. */
  const fire: Fire = async ({ key, name: deadline, at }, isDoubtful) => {
    const due = { name: deadline, at: new Date(at).toISOString() }
    return (await announce(key, due, { isDoubtful })).announce.length > 0
  }

  async function open({ id: tenant }: Pick<Tenant, 'id'>, id: string): Promise<OpenDeadline[] | undefined> {
    const key = documentKey(name, id)
    const document = (await documents(tenant).read([key])).get(key)?.value as EntityDocument<S> | undefined
    return document?.state === undefined ? undefined : openIn(document)
  }

  async function fireNow({ id: tenant }: Pick<Tenant, 'id'>, id: string, due: Deadline) {
    const time = now()
    const early = time.getTime() < Date.parse(due.at) ? { early: time } : {}
    const result = await announce(documents(tenant).fullKey(documentKey(name, id)), due, early)
    if (result.announce.length > 0) return 'done'
    return result.before?.isFired ? 'fired' : 'ended'
  }

  /** Gives the entity of an event the deadlines that this release declares for its state. It decides nothing. Returns true if they have changed. */
  function retime(event: FullEvent): Promise<boolean> {
    const key = documentKey(name, idOfPayload(event.Payload))
    const own = documents(tenantOf(event).id)
    return own.change({
      key,
      kind: 'retime',
      bytes: documentBytes,
      arms: true,
      decide(stored) {
        const known = stored.get<EntityDocument<S>>(key)
        const next = rules.retimed(known, now())
        if (!next) return false
        stored.write(next)
        arm(stored, own.fullKey(key), armedIn(next, known))
        return true
      },
    })
  }

  return { pass, fire, retime, operations: { open, fireNow } satisfies EntityDeadlines }
}
