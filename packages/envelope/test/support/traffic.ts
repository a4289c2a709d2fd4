import type { ReceivedEnvelope, Traffic } from '../../src/index.ts'
import { reduced } from './documents.ts'

const envelope = { ...reduced(), TenantID: 'acme' } as unknown as ReceivedEnvelope
/** An application with two topics that outside publishers also write. */
export const traffic: Traffic = {
  title: 'shops',
  version: '1.2.3',
  applications: [
    { name: 'shop', produces: { orderevents: ['OrderCreated'], paymentevents: [] }, consumes: [] },
    { name: 'till', produces: {}, consumes: ['orderevents'] },
  ],
  outside: { orderevents: ['OrderCreated'], paymentevents: ['OrderCancelled'] },
  partitions: 12,
  keys: { orderevents: ['OrderId'], paymentevents: ['OrderId'] },
  examples: [{ description: 'an order', envelope }],
}
