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

const sparePartModel = model<SparePart>('SparePart', {
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
      summary: 'List all, newest arrival first; or the one with this ThingId',
      input: { page: pageOptions, thingId: queryId('thingId', { description: 'Only the one with this ThingId.' }) },
      answers: { 200: 'A page of the list; `next` is null on the last one.' },
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
      summary: 'Get one by its id',
      input: { id: pathId('id') },
      answers: { 200: 'As it stands.' },
      body: sparePartModel,
      refusals: ['not-found'],
      async handle({ id }, { tenant }) {
        const found = await store.find(tenant.id, id)
        if (!found) throw new SparePartError(`There is no spare part ${id}.`)
        return { status: 200, body: found }
      },
    }),
  ]
}
