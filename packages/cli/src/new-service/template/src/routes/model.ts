import { dateTime, guidText, model } from '@orderflow/service-kit'
import type { SparePart } from '../domain/spare-part.ts'

export const sparePartModel = model<SparePart>('SparePart', {
  id: guidText,
  orderId: guidText,
  createdAt: dateTime,
  causationId: guidText,
  correlationId: guidText,
  traceId: guidText,
})
