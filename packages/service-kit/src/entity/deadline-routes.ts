import type { EventType, Tenant } from '@orderflow/envelope'
import { callIn } from '../state/deadlines/index-names.ts'
import type { ListedEntry, Listing } from '../state/deadlines/listing.ts'
import { keyIn, nameIn } from '../state/spaces.ts'
import { type Input, jsonBody, pathWord } from '../web/input.ts'
import { type ContractField, dateTime, type Model, model, text } from '../web/model.ts'
import { HttpProblem, invalid, notFound } from '../web/problems.ts'
import { type Route, route } from '../web/route.ts'
import type { EntityContext } from './context.ts'
import { openIn } from './deadlines.ts'
import type { EntityDocument } from './document.ts'
import { deadlinePassed } from './kit-events.ts'
import type { Entity } from './open-entity.ts'

/** A deadline as operators see it. */
interface ShownDeadline {
  entity: string
  id: string
  deadline: string
  due: string
  /** True if it has passed, and was not decided. */
  isFired: boolean
}

const delays = ['undecided', 'clock', 'lag', 'takeover', 'retry', 'firing'] as const
type ListedDeadline = ShownDeadline & { delayedBy: (typeof delays)[number] | null }

/** The ends of the windows, in milliseconds from now. */
const windows = { overdue: 0, nextHour: 3_600_000, nextDay: 86_400_000, later: Number.POSITIVE_INFINITY }
type Windows = Record<keyof typeof windows, number>

interface DeadlineList {
  /** The time of the log. */
  now: string
  hold: 'clock' | 'lag' | null
  unhandled: number | null
  counts: (Windows & { entity: string; deadline: string })[]
  isWhole: boolean
  items: ListedDeadline[]
  checked: number
}

const shownFields = { entity: text, id: text, deadline: text, due: dateTime }
const isFired = { type: 'boolean', description: 'True if it has passed, and was not decided.' }
const whole = { type: 'integer' }

const listModel = model<DeadlineList>('DeadlineList', {
  now: { ...dateTime, description: 'The time of the log, by which deadlines pass.' },
  hold: {
    ...{ ...text, nullable: true, enum: ['clock', 'lag', null] },
    description:
      '`clock`: the time of the log is unknown. `lag`: too many passed deadlines are unhandled. No deadline passes until then.',
  },
  unhandled: { ...whole, nullable: true, description: 'Events of passed deadlines that the service has not handled.' },
  counts: {
    type: 'array',
    description: 'Upper bounds for each deadline, by the time at which it passes: the index has ended ones, too.',
    items: {
      type: 'object',
      properties: { entity: text, deadline: text, overdue: whole, nextHour: whole, nextDay: whole, later: whole },
    },
  },
  isWhole: {
    type: 'boolean',
    description: 'False if the index is so large that the latest deadlines are not counted.',
  },
  items: {
    type: 'array',
    description: 'The open deadlines that pass first.',
    items: {
      type: 'object',
      properties: {
        ...shownFields,
        isFired,
        delayedBy: {
          ...{ ...text, nullable: true, enum: [...delays, null] },
          description:
            'The reason why an overdue one has not led to its decision. `undecided`: its event is not decided, or a dead letter. `clock`, `lag`: see `hold`. `takeover`: its replica has ended, and another one takes its deadlines. `retry`: it could not be fired, see the log. `firing`: it passes now.',
        },
      },
    },
  },
  checked: {
    ...whole,
    description: 'The number of entries of the index that were compared with their entities for `items`.',
  },
})

const openModel: Model<{ items: ShownDeadline[] }> = {
  name: 'OpenDeadlines',
  schema: {
    type: 'object',
    properties: { items: { type: 'array', items: { type: 'object', properties: { ...shownFields, isFired } } } },
  },
}

/** The number of documents that are read together, and the largest number for one list. Most deadlines in the index have ended. */
const readTogether = 200
const maxChecked = 2_000
const maxItems = 100

const limitInput: Input<number> = {
  read({ query: { limit = '20' } }) {
    const count = typeof limit === 'string' && /^\d{1,3}$/.test(limit) ? Number(limit) : 0
    if (count >= 1 && count <= maxItems) return count
    throw invalid([{ pointer: 'limit', detail: `must be a whole number from 1 to ${maxItems}` }])
  },
  parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: maxItems, default: 20 } }],
  problems: [400],
}

type WithDeadlines = Pick<Entity<unknown, unknown, object>, 'name' | 'deadlines'>

/** Returns the routes with which operators see and fire the deadlines of a service. The list is empty if no entity has deadlines. */
export function deadlineRoutes(all: readonly WithDeadlines[], { documents, log }: EntityContext): Route[] {
  const entities = all.filter(({ deadlines }) => deadlines)
  if (entities.length === 0) return []
  const id = pathWord('entityId', { description: 'The id of the entity.' })
  const passed = (field: string): ContractField => [`${deadlinePassed}@1` as EventType, field]
  const fields = { entity: passed('Entity'), deadline: passed('Deadline'), due: passed('Due') }
  const chosen = jsonBody<Pick<ShownDeadline, 'entity' | 'deadline' | 'due'>>('ChosenDeadline', fields)

  async function openOf(tenant: Tenant, id: string): Promise<{ items: ShownDeadline[] }> {
    const found = await Promise.all(
      entities.map(async ({ name: entity, deadlines }) =>
        (await deadlines?.open(tenant, id))?.map(({ name, at, isFired }) => {
          return { entity, id, deadline: name, due: at, isFired }
        }),
      ),
    )
    if (found.some((one) => one !== undefined)) return { items: found.flatMap((one) => one ?? []) }
    throw notFound('Entity', `There is no entity ${id} with deadlines. A new one may take a moment.`)
  }

  /** Returns the first deadlines of the index that are open in their documents. */
  async function firstOpen(tenant: Tenant, own: readonly ListedEntry[], { now, hold }: Listing, limit: number) {
    const items: ListedDeadline[] = []
    let checked = 0
    while (items.length < limit && checked < Math.min(own.length, maxChecked)) {
      const some = own.slice(checked, checked + readTogether)
      const found = await documents(tenant.id).read([...new Set(some.map(({ key }) => keyIn(key)))])
      for (const { key, name, at, delayedBy } of some) {
        if (items.length === limit) break
        checked += 1
        const document = found.get(keyIn(key))?.value as EntityDocument<unknown> | undefined
        const due = new Date(at).toISOString()
        const open = openIn(document ?? {}).find((one) => one.name === name && one.at === due)
        if (!open) continue
        const entity = nameIn(key)
        const late = at <= now ? (hold ?? delayedBy ?? 'firing') : null
        const shown = { entity, id: keyIn(key).slice(entity.length + 1), deadline: name, due }
        items.push({ ...shown, isFired: open.isFired, delayedBy: open.isFired ? 'undecided' : late })
      }
    }
    return { items, checked }
  }

  return [
    route({
      method: 'get',
      path: '/v1/deadlines',
      scope: 'deadlines:read',
      summary: 'List open deadlines, the oldest first',
      input: { limit: limitInput },
      answers: { 200: 'The numbers of deadlines, and those that pass first.' },
      body: listModel,
      async handle({ limit }, { tenant }) {
        const { fullKey, firing } = documents(tenant.id)
        const listing = await firing.list()
        const own = listing.entries.filter(({ key, name }) => fullKey(keyIn(key)) === key && !callIn(name))
        const { now, hold = null, unhandled = null, isWhole } = listing
        const first = await firstOpen(tenant, own, listing, limit)
        const body = {
          now: new Date(now).toISOString(),
          hold,
          unhandled,
          counts: countsOf(own, now),
          isWhole,
          ...first,
        }
        return { status: 200, body }
      },
    }),
    route({
      method: 'get',
      path: '/v1/deadlines/{entityId}',
      scope: 'deadlines:read',
      summary: 'List the open deadlines of an entity',
      input: { id },
      answers: { 200: 'The open deadlines of all entities with this id.' },
      body: openModel,
      handle: async ({ id }, { tenant }) => ({ status: 200, body: await openOf(tenant, id) }),
    }),
    route({
      method: 'post',
      path: '/v1/deadlines/{entityId}/fire',
      scope: 'deadlines:operate',
      summary: 'Let an open deadline pass now',
      description:
        'Its event is published at once, although its time has perhaps not come. A second request is refused.',
      input: { id, chosen: { ...chosen, problems: [...chosen.problems, 409] } },
      answers: { 202: 'The event of the deadline is in the log, and the service decides when it arrives.' },
      body: openModel,
      async handle({ id, chosen: { entity, deadline, due } }, { tenant, caller }) {
        const found = entities.find(({ name }) => name === entity)
        if (!found) throw notFound('Entity', `There is no entity ${entity} with deadlines.`)
        const at = new Date(due).toISOString()
        const result = await found.deadlines?.fireNow(tenant, id, { name: deadline, at })
        if (result === 'fired') throw refused('deadline-fired', `The deadline ${deadline} has passed. ${ifUndecided}`)
        if (result === 'ended') throw refused('deadline-ended', `The deadline ${deadline} is not open at this time.`)
        log.warn({ id, entity, deadline, due, by: caller?.key ?? caller?.id }, 'a caller lets a deadline pass now')
        return { status: 202, body: await openOf(tenant, id) }
      },
    }),
  ]
}

const ifUndecided = 'If it was not decided, replay its dead letter.'

const refused = (code: string, detail: string): HttpProblem =>
  new HttpProblem(409, code, 'The deadline cannot pass now', { detail })

/** Returns the numbers of deadlines by entity, name and window. */
function countsOf(entries: readonly ListedEntry[], now: number): DeadlineList['counts'] {
  const names = Object.keys(windows) as (keyof typeof windows)[]
  const counts = new Map<string, DeadlineList['counts'][number]>()
  for (const { key, name: deadline, at } of entries) {
    const entity = nameIn(key)
    const count = counts.get(`${entity} ${deadline}`) ?? {
      entity,
      deadline,
      overdue: 0,
      nextHour: 0,
      nextDay: 0,
      later: 0,
    }
    counts.set(`${entity} ${deadline}`, count)
    count[names.find((name) => at <= now + windows[name]) as keyof typeof windows] += 1
  }
  return [...counts.values()].toSorted((a, b) => (`${a.entity} ${a.deadline}` < `${b.entity} ${b.deadline}` ? -1 : 1))
}
