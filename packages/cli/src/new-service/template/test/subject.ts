import { randomUUID } from 'node:crypto'
import { createEnvelope, examplePayload, paymentEvents } from '@orderflow/envelope-schema'
import { publisherOf, type Subject } from '@orderflow/service-kit/testing'

/** What the specs of every service (packages/test-kit) need to know of this one. */
export const subject: Subject = {
  event() {
    const OrderId = randomUUID()
    const envelope = createEnvelope({
      app: publisherOf(paymentEvents),
      type: 'PaymentApproved',
      creationDate: new Date(),
      payload: { ...examplePayload('PaymentApproved'), OrderId },
    })
    return { topic: paymentEvents, key: OrderId, envelope }
  },

  async effectOf(url, { key }) {
    const response = await fetch(`${url}/v1/spare-parts?orderId=${key}`)
    const { items } = (await response.json()) as { items: unknown[] }
    return items[0]
  },
}
