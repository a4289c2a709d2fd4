import {
  dateTime,
  guidText,
  model,
  pageOf,
  pageOptions,
  pathId,
  queryId,
  type Route,
  route,
} from '@orderflow/service-kit'
import { type SparePart, SparePartError, sparePartIdOf } from '../domain/spare-part.ts'
import type { SparePartStore } from '../store.ts'

export const sparePartModel = model<SparePart>('SparePart', {
  id: guidText,
  thingId: guidText,
  createdAt: dateTime,
  causationId: guidText,
  correlationId: guidText,
  traceId: guidText,
})

export function sparePartRoutes(store: Pick<SparePartStore, 'find' | 'page'>): Route[] {
  return [
    route({
      method: 'get',
      path: '/v1/spare-parts',
      scope: 'spare-parts:read',
      summary: 'List spare parts, newest first, or find one by its ThingId',
      input: {
        page: pageOptions,
        thingId: queryId('thingId', { description: 'Returns only the entry with this ThingId.' }),
      },
      answers: { 200: 'A page of the list. `next` is null on the last page.' },
      body: pageOf(sparePartModel),
      async handle({ page, thingId }, { tenant }) {
        if (thingId === undefined) return { status: 200, body: await store.page(tenant.id, page) }
        const found = await store.find(tenant.id, sparePartIdOf(thingId))
        return { status: 200, body: { items: found ? [found] : [], next: null } }
      },
    }),

    route({
      method: 'get',
      path: '/v1/spare-parts/{id}',
      scope: 'spare-parts:read',
      summary: 'Get one spare part by its id',
      input: { id: pathId('id') },
      answers: { 200: 'The current document.' },
      body: sparePartModel,
      refusals: ['not-found'],
      async handle({ id }, { tenant }) {
        const found = await store.find(tenant.id, id)
        if (!found) throw new SparePartError(`There is no spare part ${id}. Its event may not have arrived yet.`)
        return { status: 200, body: found }
      },
    }),
  ]
}
