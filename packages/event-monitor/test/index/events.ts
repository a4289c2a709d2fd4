import { randomUUID } from 'node:crypto'
import type { Reaction } from '@orderflow/service-kit/application'
import { application, full } from '../support/records.ts'

export const second = 1_000
export const start = Date.UTC(2026, 0, 1)
export const reactions = application.reactions as [Reaction]
export const payment = () => ({
  PaymentId: randomUUID(),
  OrderId: randomUUID(),
  Amount: 10,
  Policy: 'a@1',
  Source: 'Manual',
})
export const paymentApproved = (OrderId: string) => full('PaymentApproved', { ...payment(), OrderId })

/** Returns the offsets of a page of events. */
export const offsets = (page: { items: { position: { offset: string } }[] }) =>
  page.items.map(({ position }) => Number(position.offset))
