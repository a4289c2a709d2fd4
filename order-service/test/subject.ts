import { randomUUID } from 'node:crypto'
import { createEnvelope, orderEvents } from '@orderflow/envelope-schema'
import type { BadRequest, Subject } from '@orderflow/service-kit/testing'
import type { Order } from '../src/order.ts'

const anOrder = { customerName: 'Ada Lovelace', customerTaxId: 'GB-123456789', total: 42.5 }

const postOrder = (body: object | string): Pick<BadRequest, 'path' | 'init' | 'status'> => ({
  path: '/v1/orders',
  init: {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  },
  status: 400,
})

export const subject: Subject = {
  badRequests: {
    'two wrong fields': {
      ...postOrder({ ...anOrder, customerName: '', total: -1 }),
      pointers: ['/customerName', '/total'],
      tells: /customerName: must not be empty.*total: must be greater than 0/,
    },
    'a total as text': { ...postOrder({ ...anOrder, total: '42.5' }), pointers: ['/total'], tells: /number/ },
    'a total beyond a double': {
      ...postOrder('{"customerName":"a","customerTaxId":"b","total":1e400}'),
      pointers: ['/total'],
      tells: /total/,
    },
    'a tax id of 65 characters': {
      ...postOrder({ ...anOrder, customerTaxId: 'x'.repeat(65) }),
      pointers: ['/customerTaxId'],
      tells: /at most 64 characters/,
    },
    'a field name in another case': {
      ...postOrder({ ...anOrder, customerTaxId: undefined, CustomerTaxId: 'x' }),
      pointers: ['/customerTaxId'],
      tells: /rename CustomerTaxId to customerTaxId/,
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

  /** Waits for the payment, because the payment is the order's last change. */
  async effectOf(url, { key }) {
    const response = await fetch(`${url}/v1/orders/${key}`)
    const order = (await response.json()) as Order
    return order.status === 'Paid' ? order : undefined
  },
}
