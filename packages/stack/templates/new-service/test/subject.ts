import { randomUUID } from 'node:crypto'
import { createEnvelope, examplePayload, type PayloadOf, someEvents } from '@orderflow/envelope-schema'
import { publisherOf, type Subject, type SubjectEvent, underKey } from '@orderflow/service-kit/testing'

/** The events and effects of this service, for the specs that every service must pass (@orderflow/test-kit). */
export const subject: Subject = {
  event() {
    const envelope = createEnvelope({
      app: publisherOf('SomethingHappened'),
      type: 'SomethingHappened',
      creationDate: new Date(),
      payload: { ...examplePayload('SomethingHappened'), ThingId: randomUUID() },
    })
    return underKey(someEvents, envelope)
  },

  async effectOf(url, event) {
    const response = await fetch(`${url}/v1/spare-parts?thingId=${idIn(event)}`)
    const { items } = (await response.json()) as { items: unknown[] }
    return items[0]
  },
}

export const idIn = ({ envelope }: SubjectEvent): string => (envelope.Payload as PayloadOf<'SomethingHappened'>).ThingId
