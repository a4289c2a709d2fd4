import { randomUUID } from 'node:crypto'
import { createEnvelope, orderEvents } from '@orderflow/envelope-schema'
import type { Subject } from '@orderflow/service-kit/testing'
import type { Payment } from '../src/payment.ts'

export const subject: Subject = {
  badRequests: {
    'an orderId with a urn: prefix': {
      path: '/v1/payments',
      init: {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ orderId: `urn:uuid:${randomUUID()}`, amount: 1 }),
      },
      status: 400,
      pointers: ['/orderId'],
      tells: /GUID/,
    },
  },

  event() {
    const OrderId = randomUUID()
    const envelope = createEnvelope({
      app: { id: randomUUID(), name: 'older-application' },
      type: 'OrderCreated',
      creationDate: new Date(),
      payload: { OrderId, CustomerName: 'Grace Hopper', CustomerTaxId: 'US-1', Total: 10 },
    })
    return { topic: orderEvents, key: OrderId, envelope }
  },

  async effectOf(url, { key }) {
    const response = await fetch(`${url}/v1/payments?orderId=${key}`)
    const { items } = (await response.json()) as { items: Payment[] }
    return items[0]
  },
}
