import { dateTime, defineService, getRoute, guidText, listRoute, model, openEntity } from '@orderflow/service-kit'
import { type SparePart, sparePart, sparePartIdOf } from './spare-part.ts'

const sparePartModel = model<SparePart>('SparePart', {
  id: guidText,
  thingId: guidText,
  createdAt: dateTime,
  causationId: guidText,
  correlationId: guidText,
  traceId: guidText,
})

export const service = defineService({
  root: new URL('..', import.meta.url),
  description: 'Spare parts: one for each SomethingHappened.',
  produces: [],
  refusals: { 'not-found': { status: 404, title: 'Spare part not found' } },
  create(context) {
    const spareParts = openEntity(sparePart, context)
    const shown = { path: '/v1/spare-parts', model: sparePartModel }
    return {
      entities: [spareParts],
      routes: [listRoute(spareParts, { ...shown, by: { thingId: sparePartIdOf } }), getRoute(spareParts, shown)],
    }
  },
})
