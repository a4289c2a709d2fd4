import type { FullEvent } from '@orderflow/envelope'
import { Cron } from 'croner'
import { requirePublishable } from '../stream/publishing/publish.ts'
import { type Changes, documentBytes } from './changes.ts'
import type { EntityContext } from './context.ts'
import { type AnyDefinition, documentKey, type Entry } from './document.ts'
import type { Schedule } from './entity.ts'
import { type DeadlinePassed, deadlinePassed, kitEvent } from './kit-events.ts'

/** The document of a schedule. */
interface ScheduleDocument {
  /** The last time that has passed, as in events. */
  last: string
  unannounced?: Entry[]
}

/** The largest number of missed times that are announced together. */
const maxTogether = 100

/** Creates the schedules of an entity. All replicas may announce a time: the guard of the schedule's document lets only one of them do it. */
export function createSchedules<S, V>(
  { name: entity, every = {} }: AnyDefinition<S, V>,
  { settle }: Pick<Changes<S>, 'settle'>,
  { app, documents }: Pick<EntityContext, 'app' | 'documents'>,
) {
  const name = `every-${entity}`
  const schedules = new Map(
    (Object.entries(every) as [string, Schedule | string][]).map(([schedule, form]) => [
      schedule,
      open(schedule, form),
    ]),
  )

  function open(schedule: string, form: Schedule | string) {
    const { cron, zone = 'UTC', of = entity, missed = 'latest' } = typeof form === 'string' ? { cron: form } : form
    const key = documentKey(name, schedule)
    const times = timesOf(`the schedule ${schedule} of ${entity}`, cron, zone)
    /** The last time that has passed, as far as this process knows, and the time of the next one. */
    let known: { last: string; next: number } | undefined

    function eventOf(due: Date): FullEvent {
      const Due = due.toISOString()
      const EntityId = typeof of === 'string' ? of : of(due)
      const payload: DeadlinePassed = { Entity: entity, EntityId, Deadline: schedule, Due }
      const parts = ['schedule', app.id, entity, schedule, Due] as const
      const event = kitEvent(app, deadlinePassed, parts, payload, { creationDate: due })
      requirePublishable(event)
      return event
    }

    async function pass(time: Date): Promise<void> {
      if (known && time.getTime() < known.next) return
      const saving = () =>
        documents('').change({
          ...{ key, kind: 'schedule', bytes: documentBytes, announces: true },
          decide(stored) {
            const document = stored.get<ScheduleDocument>(key)
            // A new schedule begins now. If the store has lost the document, this process may know more.
            const last = document?.last ?? known?.last ?? time.toISOString()
            const passed = missed === 'each' ? times.each(last, time) : times.latest(last, time)
            const fresh = passed.map((due): Entry => ({ event: eventOf(due), mark: stored.mark() }))
            const newest = passed.at(-1)?.toISOString() ?? last
            const { announcing, fullKey } = documents('')
            for (const entry of fresh) announcing.note(fullKey(key), entry)
            const open = (document?.unannounced ?? []).filter((entry) => !announcing.isAnnounced(fullKey(key), entry))
            const unannounced = [...open, ...fresh]
            if (newest !== document?.last) stored.write({ ...document, last: newest, unannounced })
            return { announce: fresh.length > 0 ? unannounced : [], last: newest }
          },
        })
      const { last } = await settle(documents('').fullKey(key), true, saving)
      known = { last, next: times.next(last)?.getTime() ?? Number.POSITIVE_INFINITY }
    }

    const restore = (due: string): Promise<boolean> =>
      documents('').change({
        ...{ key, kind: deadlinePassed, bytes: documentBytes },
        decide(stored) {
          const document = stored.get<ScheduleDocument>(key)
          if (document && document.last >= due) return false
          stored.write({ ...document, last: due })
          return true
        },
      })

    return { pass, restore }
  }

  return {
    name,
    async pass(time: Date): Promise<void> {
      const results = await Promise.allSettled([...schedules.values()].map((schedule) => schedule.pass(time)))
      const failure = results.find((result) => result.status === 'rejected')
      if (failure) throw failure.reason
    },
    /** Adds a time that is in the log to the schedule's document. Returns true if it did. */
    async restore({ AppId, Payload }: FullEvent): Promise<boolean> {
      const { Entity, Deadline, Due } = Payload as unknown as DeadlinePassed
      if (Entity !== entity || AppId !== app.id) return false
      return (await schedules.get(Deadline)?.restore(Due)) ?? false
    },
  }
}

/** Returns functions for the times of a schedule. @throws {Error} if it never passes, or its text or time zone is invalid */
function timesOf(what: string, pattern: string, timezone: string) {
  const cron = cronOf(what, pattern, timezone)
  const next = (last: string | Date): Date | null => cron.nextRun(new Date(last))
  return {
    next,
    /** Returns the times after `last` up to `time`, the oldest first. */
    each(last: string, time: Date): Date[] {
      const all: Date[] = []
      for (let due = next(last); due && due <= time && all.length < maxTogether; due = next(due)) all.push(due)
      return all
    },
    /** Returns the latest of the times after `last` up to `time`. */
    latest(last: string, time: Date): Date[] {
      // The library leaves out the given time itself.
      const [latest] = cron.previousRuns(1, new Date(time.getTime() + 1))
      return latest && latest > new Date(last) ? [latest] : []
    },
  }
}

function cronOf(what: string, pattern: string, timezone: string): Cron {
  try {
    const cron = new Cron(pattern, { timezone, mode: '5-part' })
    if (cron.nextRun()) return cron
  } catch (error) {
    throw new Error(`${what} is invalid: ${(error as Error).message}`, { cause: error })
  }
  throw new Error(`${what} never passes: ${pattern}`)
}
