import { randomUUID } from 'node:crypto'
import { createEnvelope, examplePayload, someEvents } from '@orderflow/envelope-schema'
import { publisherOf, type Subject } from '@orderflow/service-kit/testing'

/** What the specs of every service (packages/test-kit) need to know of this one. */
export const subject: Subject = {
  event() {
    const ThingId = randomUUID()
    const envelope = createEnvelope({
      app: publisherOf(someEvents),
      type: 'SomethingHappened',
      creationDate: new Date(),
      payload: { ...examplePayload('SomethingHappened'), ThingId },
    })
    return { topic: someEvents, key: ThingId, envelope }
  },

  async effectOf(url, { key }) {
    const response = await fetch(`${url}/v1/spare-parts?thingId=${key}`)
    const { items } = (await response.json()) as { items: unknown[] }
    return items[0]
  },
}
