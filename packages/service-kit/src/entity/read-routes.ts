import { pageOptions, pathId, queryId } from '../web/input.ts'
import { type Model, pageOf } from '../web/model.ts'
import { type Route, route } from '../web/route.ts'
import { Refused } from './entity.ts'
import type { Entity } from './open-entity.ts'

interface Shown<V> {
  /** The path of the list, such as `/v1/things`. The scope of both routes is then `things:read`. */
  path: string
  model: Model<V>
  /** The id in the example of the API’s document. */
  example?: string
}

interface Listed<V> extends Shown<V> {
  /** A field of the query that finds one entity, and the function that derives its id from the field’s GUID: `{ orderId: paymentIdOf }`. */
  by?: Record<string, (value: string) => string>
}

type Readable<V> = Pick<Entity<unknown, V, object>, 'get' | 'page' | 'name'>

const thingsOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** Returns the route that lists entities. */
export function listRoute<V>(entities: Readable<V>, { path, model, by = {} }: Listed<V>): Route {
  const things = thingsOf(path)
  const [field = '', idOf] = Object.entries(by)[0] ?? []
  const found = queryId(field, { description: `Returns only the ${entities.name} with this ${field}.` })
  return route({
    ...{ method: 'get', path, scope: `${things}:read` },
    summary: `List ${things}, newest arrival first${idOf ? `, or find one by its ${field}` : ''}`,
    input: { page: pageOptions, ...(idOf && { found }) },
    answers: { 200: `A page of ${things}; \`next\` is null on the last page.` },
    body: pageOf(model),
    async handle({ page, found }, { tenant }) {
      if (found === undefined || !idOf) return { status: 200, body: await entities.page(tenant, page) }
      const one = await entities.get(tenant, idOf(found))
      return { status: 200, body: { items: one ? [one] : [], next: null } }
    },
  })
}

/** Returns the route that gets one entity by its id. */
export function getRoute<V>(entities: Readable<V>, { path, model, example }: Shown<V>): Route {
  const { name } = entities
  return route({
    ...{ method: 'get', path: `${path}/{id}`, scope: `${thingsOf(path)}:read`, summary: `Get one ${name}` },
    input: { id: pathId('id', { description: `The id of the ${name}.`, ...(example && { example }) }) },
    answers: { 200: `The current ${name}.` },
    body: model,
    refusals: ['not-found'],
    async handle({ id }, { tenant }) {
      const found = await entities.get(tenant, id)
      if (found === undefined) throw new Refused('not-found', `There is no ${name} ${id}. A new one may take a moment.`)
      return { status: 200, body: found }
    },
  })
}
